"""Ways to run a job, also on machines that differ: published systems behind one contract."""

from advisor.strategies.layer_times import LayerTimes, Line
from advisor.strategies.speeds import Speeds, predicted_speeds
from advisor.strategies.strategy import STRATEGIES, Strategy

__all__ = ["STRATEGIES", "LayerTimes", "Line", "Speeds", "Strategy", "predicted_speeds"]
