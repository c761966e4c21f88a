"""Generator and discriminator counted against the published networks."""

from __future__ import annotations

import pytest

from advisor.zoo import build_workload, get
from advisor.zoo.kinds.adversarial import AdversarialPair
from advisor.zoo.networks.stylegan import channels_of


@pytest.mark.parametrize(
    ("side", "made", "judged"), [(256, 23_191_522, 24_001_089), (1024, 28_794_124, 29_012_513)]
)
def test_both_networks_have_the_published_parameters(side: int, made: int, judged: int) -> None:
    pair = get("stylegan2-ada")
    assert isinstance(pair, AdversarialPair)
    generator, discriminator = pair.count(side)
    # The strengths of the noise, one per layer, are left out.
    assert made - 20 < generator.params < made
    assert discriminator.params == judged


def test_an_image_costs_several_passes_of_both() -> None:
    pair = get("stylegan2-ada")
    assert isinstance(pair, AdversarialPair)
    generator, discriminator = pair.count(256)
    # Main steps alone: 4 passes of the generator, 8 of the discriminator.
    least = (4 * generator.flops + 8 * discriminator.flops) / 3
    assert least < pair.model(256).forward_flops_per_sample < 1.1 * least


def test_width_halves_with_every_doubling_of_the_side() -> None:
    assert [channels_of(side, 512) for side in (64, 128, 256, 512)] == [512, 256, 128, 64]
    assert get("StyleGAN2").model(512).resolution == 512


def test_a_job_is_made_of_images() -> None:
    workload = build_workload(get("stylegan2-ada"), samples=25e6, sample_size=256)
    assert workload.global_batch == 32
    assert workload.steps == 781_250
