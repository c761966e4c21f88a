"""Detectors of objects in images."""

from __future__ import annotations

from functools import partial

from advisor.zoo.kinds.convnet import ConvNet
from advisor.zoo.networks.yolo import yolov5
from advisor.zoo.tables.datasets import COCO

MODELS = tuple(
    ConvNet(
        name=f"yolov5{size}",
        title=f"YOLOv5{size}",
        family="cnn",
        default_sample_size=640,
        published_params=published,
        source="ultralytics/yolov5, models/ and README.md",
        dataset=COCO,
        usual_batch=64,
        build=partial(yolov5, depth=depth, width=width),
    )
    for size, depth, width, published in (
        ("n", 0.33, 0.25, 1_872_157),
        ("s", 0.33, 0.50, 7_235_389),
        ("m", 0.67, 0.75, 21_190_557),
        ("l", 1.0, 1.0, 46_563_709),
        ("x", 1.33, 1.25, 86_749_405),
    )
)
