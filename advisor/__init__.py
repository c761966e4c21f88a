"""The advisor: which cloud machines for a training job, how many, how long, at what price."""

__version__ = "0.1.0"
