"""The predictor: physical baseline × learned correction, with intervals, calibrated by own runs."""

from advisor.predictor.calibration import Calibration
from advisor.predictor.jobs import Jobs
from advisor.predictor.model import Prediction, StepTimeModel
from advisor.predictor.predictor import Predictor

__all__ = ["Calibration", "Jobs", "Prediction", "Predictor", "StepTimeModel"]
