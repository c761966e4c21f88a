"""Smooth corrections of frameworks whose transformers were measured densely.

Where one framework ran many layouts of several transformers, its residual is a smooth function of
shape and layout: a Gaussian process finds it, which trees, made of steps, only approximate.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np
from scipy.optimize import minimize
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, WhiteKernel

from advisor.predictor.arrays import FloatArray
from advisor.predictor.difficulty import model_keys
from advisor.predictor.frameworks import TUNED, UNNAMED
from advisor.predictor.threads import one_thread

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.predictor.jobs import Jobs

# Runs under these are of many hands, not of one framework.
NO_FRAMEWORK: Final = (UNNAMED, TUNED)
FEWEST_RUNS: Final = 100
FEWEST_MODELS: Final = 3
FEWEST_RUNS_OF_A_MODEL: Final = 20  # on average
FOLDS: Final = 3
# Rows that the length scales are fitted on, and that predict.
SCALE_ROWS: Final = 150
MOST_ROWS: Final = 1000
ITERATIONS: Final = 40
ROUNDING: Final = 1e-9
# The process has to be so much better than the trees where both have not seen the model.
BETTER: Final = 0.8


@dataclass(frozen=True, slots=True)
class LocalProcess:
    """A Gaussian process over the doublings of shape and layout of one framework's runs."""

    process: GaussianProcessRegressor
    varied: np.ndarray
    centre: FloatArray
    spread: FloatArray

    @classmethod
    def fit(cls, jobs: Jobs, residual: FloatArray) -> Self:
        """Fit to log residuals; length scales by maximum likelihood on a sample of the rows.

        Source: Rasmussen and Williams, 2006, section 5.1 (automatic relevance determination).
        """
        columns = _columns(jobs)
        varied = columns.std(axis=0) > ROUNDING
        centre, spread = columns[:, varied].mean(axis=0), columns[:, varied].std(axis=0)
        points = (columns[:, varied] - centre) / spread
        order = np.random.default_rng(0).permutation(len(points))
        smooth = ConstantKernel(0.1, (1e-4, 1e2)) * RBF(np.full(points.shape[1], 2.0), (0.2, 1e2))
        linear = ConstantKernel(0.1, (1e-5, 1e2)) * DotProduct(1.0, (1e-2, 1e2))
        process = GaussianProcessRegressor(
            smooth + linear + WhiteKernel(1e-2, (1e-6, 1.0)),
            optimizer=_few_iterations,
            normalize_y=True,
        )
        few, many = order[:SCALE_ROWS], order[:MOST_ROWS]
        with one_thread(), warnings.catch_warnings():
            # A column that does not matter has a length on its bound.
            warnings.simplefilter("ignore", ConvergenceWarning)
            process.fit(points[few], residual[few])
            process.set_params(kernel=process.kernel_, optimizer=None)
            process.fit(points[many], residual[many])
        return cls(process, varied, centre, spread)

    def predict(self, jobs: Jobs) -> FloatArray:
        """Return the correction of every job."""
        points = (_columns(jobs)[:, self.varied] - self.centre) / self.spread
        with one_thread():
            return np.asarray(self.process.predict(points))


@dataclass(frozen=True, slots=True)
class LocalProcesses:
    """The frameworks whose correction is a smooth process, chosen on models held out."""

    by_framework: dict[float, LocalProcess]

    @classmethod
    def fit(cls, jobs: Jobs, features: FloatArray, residual: FloatArray) -> Self:
        """Fit a process for every framework where it predicts models that it has not seen better.

        Parameters
        ----------
        jobs : Jobs
            Measured runs.
        features : array, shape (n, features)
            What the trees see of them.
        residual : array, shape (n,)
            Log residuals of the physics.
        """
        models = np.unique(np.array(model_keys(jobs)), axis=0, return_inverse=True)[1].reshape(-1)
        found = {}
        for code in np.unique(jobs.framework_code).tolist():
            rows = np.flatnonzero((jobs.framework_code == code) & (jobs.is_transformer > 0))
            if (
                code != UNNAMED
                and _dense(models[rows])
                and _smooth(jobs, features, residual, rows, models)
            ):
                found[code] = LocalProcess.fit(jobs.take(rows), residual[rows])
        return cls(found)

    def replace(self, jobs: Jobs, correction: FloatArray) -> FloatArray:
        """Return the corrections with those of the smooth frameworks in their place."""
        out = correction
        for code, process in self.by_framework.items():
            rows = (jobs.framework_code == code) & (jobs.is_transformer > 0)
            if rows.any():
                out = out.copy()
                out[rows] = process.predict(jobs.take(rows))
        return out


def _dense(models: np.ndarray) -> bool:
    """Return whether runs of these models, one label per run, tell a process enough."""
    number = len(np.unique(models))
    few = len(models) < FEWEST_RUNS or number < FEWEST_MODELS
    return not few and len(models) / number >= FEWEST_RUNS_OF_A_MODEL


def _smooth(
    jobs: Jobs, features: FloatArray, residual: FloatArray, rows: np.ndarray, models: np.ndarray
) -> bool:
    """Return whether a process beats trees on models of `rows` that both have not seen."""
    names, code = np.unique(models[rows], return_inverse=True)
    fold = (np.random.default_rng(0).permutation(len(names)) % FOLDS)[code]
    errors = np.zeros(2)
    for number in range(FOLDS):
        known, asked = rows[fold != number], rows[fold == number]
        elsewhere = ~np.isin(models, np.unique(models[asked]))
        process = LocalProcess.fit(jobs.take(known), residual[known])
        trees = ExtraTreesRegressor(10, min_samples_leaf=2, max_features=0.4, random_state=0)
        with one_thread():
            trees.fit(features[elsewhere], residual[elsewhere])
            guesses = process.predict(jobs.take(asked)), trees.predict(features[asked])
        errors += [np.abs(guess - residual[asked]).sum() for guess in guesses]
    return bool(errors[0] < BETTER * errors[1])


def _columns(jobs: Jobs) -> FloatArray:
    """Return the doublings of what a layout varies, shape (jobs, columns)."""
    return np.log2(
        np.column_stack(
            [
                jobs.hidden, jobs.layers, jobs.tokens_per_sample, jobs.micro_batch,
                jobs.accumulation, jobs.data_parallel, jobs.tensor_parallel,
                jobs.pipeline_parallel, jobs.peak_flops,
            ]
        )
    )  # fmt: skip


def _few_iterations(
    objective: Callable[[FloatArray], tuple[float, FloatArray]],
    initial_theta: FloatArray,
    bounds: FloatArray,
) -> tuple[FloatArray, float]:
    """Maximise the likelihood approximately: length scales need no more than a digit."""
    result = minimize(
        objective, initial_theta, jac=True, method="L-BFGS-B", bounds=bounds,
        options={"maxiter": ITERATIONS},
    )  # fmt: skip
    return result.x, float(result.fun)
