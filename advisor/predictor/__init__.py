"""The predictor: physical baseline × learned correction, with intervals."""

from advisor.predictor.jobs import Jobs
from advisor.predictor.model import Prediction, StepTimeModel
from advisor.predictor.predictor import Predictor

__all__ = ["Jobs", "Prediction", "Predictor", "StepTimeModel"]
