"""Data sets that architectures are trained on unless another is given."""

from __future__ import annotations

from advisor.zoo.base import Dataset

IMAGENET = Dataset(name="ImageNet-1k", samples=1_281_167)
CIFAR_10 = Dataset(name="CIFAR-10", samples=50_000)
COCO = Dataset(name="COCO train2017", samples=118_287)
