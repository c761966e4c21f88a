"""The 20 CNNs whose training speed CM-DARE measured on CIFAR-10."""

from __future__ import annotations

from functools import partial

from advisor.zoo.kinds.convnet import ConvNet
from advisor.zoo.networks.tensor2tensor import pre_norm_resnet, shake_shake
from advisor.zoo.tables.datasets import CIFAR_10

SOURCE = (
    "Li et al. 2020, arXiv 2004.03072; parameters: TensorFlow profiler, "
    "cake-lab/CM-DARE@263b7f1 data/processed_data/speed_data"
)
CIFAR_SIDE = 32
BATCH = 128
"""The default of Tensor2Tensor's ``resnet_base``, per worker."""

RESNETS = tuple(
    ConvNet(
        name=f"cm-dare-{name}",
        title=f"CM-DARE {title}",
        family="cnn",
        default_sample_size=CIFAR_SIDE,
        published_params=published,
        source=SOURCE,
        aliases=aliases,
        dataset=CIFAR_10,
        usual_batch=BATCH,
        build=partial(pre_norm_resnet, blocks=blocks),
    )
    for name, title, blocks, published, aliases in (
        ("resnet-15", "ResNet-15", (2, 2, 2), 693_818, ("resnet-15", "cm-dare-res15")),
        ("resnet-32", "ResNet-32", (5, 5, 5), 1_857_722, ("resnet-32", "cm-dare-res32")),
        ("custom-1", "custom ResNet 1", (2, 3, 3), 1_063_226, ("custom-resnet-1",)),
        ("custom-2", "custom ResNet 2", (2, 5, 3), 1_211_194, ("custom-resnet-2",)),
        ("custom-3", "custom ResNet 3", (3, 8, 3), 1_451_706, ("custom-resnet-3",)),
        ("custom-4", "custom ResNet 4", (7, 7, 7), 2_633_658, ("custom-resnet-4",)),
        ("custom-5", "custom ResNet 5", (8, 9, 9), 3_391_034, ("custom-resnet-5",)),
        ("custom-6", "custom ResNet 6", (10, 13, 12), 4_610_362, ("custom-resnet-6",)),
        ("custom-7", "custom ResNet 7", (14, 15, 15), 5_718_842, ("custom-resnet-7",)),
        ("custom-8", "custom ResNet 8", (16, 20, 16), 6_421_306, ("custom-resnet-8",)),
        ("custom-9", "custom ResNet 9", (6, 6, 6), 2_245_690, ("custom-resnet-9",)),
        ("custom-10", "custom ResNet 10", (11, 15, 12), 4_776_890, ("custom-resnet-10",)),
    )
)

SHAKE_SHAKE = tuple(
    ConvNet(
        name=f"cm-dare-{name}",
        title=f"CM-DARE {title}",
        family="cnn",
        default_sample_size=CIFAR_SIDE,
        published_params=published,
        source=SOURCE,
        aliases=(name, *aliases),
        dataset=CIFAR_10,
        usual_batch=BATCH,
        build=partial(shake_shake, width=width, depth=depth),
    )
    for name, title, width, depth, published, aliases in (
        ("shake-shake-16", "Shake-Shake 16", 16, 26, 737_418, ()),
        ("shake-shake-small", "Shake-Shake small", 32, 26, 2_926_986, ("cm-dare-shakesmall",)),
        ("shake-shake-small-d32", "Shake-Shake small, 32 layers", 32, 32, 3_703_818, ()),
        ("shake-shake-48", "Shake-Shake 48", 48, 26, 6_568_282, ()),
        ("shake-shake-64", "Shake-Shake 64", 64, 26, 11_661_610, ()),
        ("shake-shake-64-d32", "Shake-Shake 64, 32 layers", 64, 32, 14_763_562, ()),
        ("shake-shake-80", "Shake-Shake 80", 80, 26, 18_206_970, ()),
        ("shake-shake-big", "Shake-Shake big", 96, 26, 26_204_362, ("cm-dare-shakebig",)),
    )
)

MODELS = RESNETS + SHAKE_SHAKE
