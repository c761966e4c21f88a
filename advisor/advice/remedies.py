"""What would help a traced run, as the predictor says it where the trace tells the job.

Predicted is the device's part of a step, calibrated with this very run: the prediction for what is
changed stands to that for the run as it is like the new device time to the measured one. What the
host takes beside stays as measured, for no prediction knows this host.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Final

from advisor.advice.finding import Finding, idle_share
from advisor.advice.forecast import forecast_on_accelerators
from advisor.core.errors import AdvisorError
from advisor.search.own_runs import workload_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.advice.engine import Engine
    from advisor.domain import Estimate, Forecast, Precision, Profile, Workload
    from advisor.traces.trace import Trace

_FASTER: Final[tuple[Precision, ...]] = ("bf16", "fp16", "tf32")
_MORE: Final = 2
# Exposed communication is unusual where less than this part of it is predicted.
_UNUSUAL: Final = 0.5


def with_predictions(
    findings: Iterable[Finding], trace: Trace, run: Profile, engine: Engine
) -> tuple[Finding, ...]:
    """Return the findings, those that a change of the job would help with what it would save.

    Parameters
    ----------
    findings : iterable of Finding
        As `diagnose` returns them.
    trace : Trace
        Tells which part of a step is the host's.
    run : Profile
        The trace as a measured run with known model, accelerator and batch.
    engine : Engine
        What predicts; beside its own calibration, if any, this run calibrates the changes.
    """
    workload = workload_of(run)
    if workload is None or run.accelerators is None:
        return tuple(findings)
    step_s = run.step_time_s
    predictions = _Predictions(run, workload, step_s * (idle_share(trace) or 0.0), engine)
    return tuple(predictions.of(finding, trace) for finding in findings)


class _Predictions:
    """Predicts a run and changes of it.

    Parameters
    ----------
    run : Profile
        What was measured.
    workload : Workload
        One step of it.
    host_s : float
        The part of its step in which the device waited [s].
    engine : Engine
        What predicts.
    """

    def __init__(self, run: Profile, workload: Workload, host_s: float, engine: Engine) -> None:
        self._run, self._workload, self._host_s, self._engine = run, workload, host_s, engine
        self._device_s = run.step_time_s - host_s

    @cached_property
    def _calibrated(self) -> Engine:
        return self._engine.calibrated(
            [self._run.model_copy(update={"step_time_s": self._device_s})]
        )

    @cached_property
    def _scale(self) -> float:
        """The measured device time over what is predicted of it once it is known."""
        return self._device_s / self._forecast(self._workload, self._calibrated).step_time_s.value

    def of(self, finding: Finding, trace: Trace) -> Finding:
        """Return a finding with its prediction; as it is where there is none."""
        try:
            predict = _RULES.get(finding.kind)
            return finding if predict is None else predict(self, finding, trace)
        except AdvisorError:  # it does not fit, or a peak that it needs is not published
            return finding

    def input_bound(self, finding: Finding, _: Trace) -> Finding:
        """Predict the run as others have measured it: their loading is hidden."""
        usual = self._forecast(self._workload, self._engine).step_time_s
        return _added(finding, f"Predicted with loading hidden: {_shown(usual)}.", usual)

    def tensor_cores(self, finding: Finding, _: Trace) -> Finding:
        """Predict the run in a faster precision."""
        precision = _faster_precision(self._run, self._engine)
        if precision is None:
            return finding
        after = self._changed(self._workload.model_copy(update={"precision": precision}))
        return _added(finding, f"Predicted in {precision}: {self._against(after)}.", after)

    def larger_batch(self, finding: Finding, _: Trace) -> Finding:
        """Predict the run with a larger batch, per as many samples as now."""
        batch = _MORE * self._workload.global_batch
        samples = _MORE * self._workload.samples
        grown = self._workload.model_copy(update={"global_batch": batch, "samples": samples})
        after = self._changed(grown, _MORE)
        said = f"Predicted with a batch of {batch:,}, for as many samples as now:"
        return _added(finding, f"{said} {self._against(after)}.", after)

    def communication(self, finding: Finding, trace: Trace) -> Finding:
        """Say what usual links would take, and predict a larger batch."""
        parts = self._forecast(self._workload, self._engine).parts
        usual_s = parts.exposed_communication_s
        measured_s = (trace.comm_exposed_share or 0.0) * self._run.step_time_s
        if usual_s < _UNUSUAL * measured_s:
            text = (
                f"With the usual links of {self._run.accelerator} {usual_s * 1e3:.2g} ms a step "
                f"would be expected, not {measured_s * 1e3:.3g} ms: the rest is waiting for other "
                "ranks, or slower links."
            )
            finding = finding.model_copy(update={"help": f"{finding.help} {text}"})
        return self.larger_batch(finding, trace)

    def _forecast(self, job: Workload, engine: Engine) -> Forecast:
        devices = round(self._run.accelerators or 1)
        return forecast_on_accelerators(self._run.accelerator, devices, job, engine)

    def _changed(self, job: Workload, times: int = 1) -> Estimate:
        """Return the time of the present step's samples by a job of so many times them [s]."""
        after = self._forecast(job, self._calibrated).step_time_s

        def whole(device_s: float) -> float:
            return (self._host_s + self._scale * device_s) / times

        return after.model_copy(
            update={name: whole(getattr(after, name)) for name in ("low", "value", "high")}
        )

    def _against(self, after: Estimate) -> str:
        return f"{_shown(after)} instead of {self._run.step_time_s:.3g} s"


_RULES: Final[dict[str, Callable[[_Predictions, Finding, Trace], Finding]]] = {
    "input-bound": _Predictions.input_bound,
    "tensor-cores-unused": _Predictions.tensor_cores,
    "launch-bound": _Predictions.larger_batch,
    "low-batch": _Predictions.larger_batch,
    "communication-exposed": _Predictions.communication,
}

PREDICTED: Final = frozenset(_RULES)
"""Kinds of findings of which a prediction can be made."""


def _added(finding: Finding, text: str, predicted: Estimate) -> Finding:
    return finding.model_copy(
        update={"predicted": predicted, "help": f"{finding.help} {text}".strip()}
    )


def _shown(estimate: Estimate) -> str:
    return (
        f"{estimate.value:.3g} s a step ({estimate.low:.3g} to {estimate.high:.3g} s, "
        f"{estimate.level:.0%} interval)"
    )


def _faster_precision(run: Profile, engine: Engine) -> Precision | None:
    """Return the first precision with a published peak above that of fp32, None without any."""
    peaks = engine.catalog.accelerator(run.accelerator).peak_flops
    single = peaks.get("fp32", 0.0)
    return next((name for name in _FASTER if peaks.get(name, 0.0) > single), None)
