"""T5."""

from __future__ import annotations

from advisor.zoo.kinds.t5 import T5Shape, t5

MODELS = tuple(
    t5(
        T5Shape(
            vocab=32128,
            hidden=hidden,
            heads=heads,
            head_dim=head_dim,
            inner=inner,
            encoder_layers=layers,
            decoder_layers=layers,
        ),
        name=name,
        title=title,
        published_params=published,
        source="Raffel et al. 2019, arXiv 1910.10683; parameters: model cards google-t5",
    )
    for name, title, hidden, layers, heads, head_dim, inner, published in (
        ("t5-small", "T5 small", 512, 6, 8, 64, 2048, 60_506_624),
        ("t5-base", "T5 base", 768, 12, 12, 64, 3072, 222_903_552),
        ("t5-large", "T5 large", 1024, 24, 16, 64, 4096, 737_668_096),
        ("t5-3b", "T5 3B", 1024, 24, 32, 128, 16384, 2_851_598_336),
        ("t5-11b", "T5 11B", 1024, 24, 128, 128, 65536, 11_307_321_344),
    )
)
