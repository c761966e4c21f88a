"""Recommendation models of MLPerf training."""

from __future__ import annotations

from advisor.zoo.base import Dataset
from advisor.zoo.kinds.dlrm import RecommendationModel

CRITEO = Dataset(name="Criteo Terabyte", samples=4_195_197_692)
CRITEO_ROWS = (
    39884406,
    39043,
    17289,
    7420,
    20263,
    3,
    7120,
    1543,
    63,
    38532951,
    2953546,
    403346,
    10,
    2208,
    11938,
    155,
    4,
    976,
    14,
    39979771,
    25641295,
    39664984,
    585935,
    12972,
    108,
    36,
)
MULTI_HOT_ROWS = (
    40000000,
    39060,
    17295,
    7424,
    20265,
    3,
    7122,
    1543,
    63,
    40000000,
    3067956,
    405282,
    10,
    2209,
    11938,
    155,
    4,
    976,
    14,
    40000000,
    40000000,
    40000000,
    590152,
    12973,
    108,
    36,
)
CHECKPOINT_SOURCE = "fp32 checkpoint of {size} GiB, mlcommons/inference recommendation/{folder}"
GIB_PARAMS = 2**30 / 4
"""Parameters in a gibibyte of single precision."""

MODELS = (
    RecommendationModel(
        name="dlrm",
        title="DLRM (Criteo Terabyte)",
        family="recommender",
        default_sample_size=1,
        largest_sample_size=1,
        published_params=90 * GIB_PARAMS,
        source="Naumov et al. 2019, arXiv 1906.00091; MLPerf training v0.7; "
        + CHECKPOINT_SOURCE.format(size=90, folder="dlrm"),
        dataset=CRITEO,
        rows=CRITEO_ROWS,
        width=128,
        bottom=(13, 512, 256, 128),
        top=(1024, 1024, 512, 256, 1),
    ),
    RecommendationModel(
        name="dlrm-dcnv2",
        title="DLRM-DCNv2 (Criteo Terabyte, multi-hot)",
        family="recommender",
        default_sample_size=1,
        largest_sample_size=1,
        published_params=97.31 * GIB_PARAMS,
        source="MLPerf training v3.0, mlcommons/training recommendation_v2; "
        + CHECKPOINT_SOURCE.format(size=97.31, folder="dlrm_v2"),
        dataset=CRITEO,
        rows=MULTI_HOT_ROWS,
        width=128,
        bottom=(13, 512, 256, 128),
        top=(1024, 1024, 512, 256, 1),
        cross_layers=3,
        cross_rank=512,
    ),
)
