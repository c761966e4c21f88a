"""BERT and its relatives."""

from __future__ import annotations

from advisor.zoo.kinds.encoder import EncoderShape, encoder

BERT_SOURCE = (
    "Devlin et al. 2018, arXiv 1810.04805; parameters with both heads: model cards "
    "google-bert/bert-uncased"
)

MODELS = (
    encoder(
        EncoderShape(vocab=30522, hidden=768, layers=12, heads=12, inner=3072),
        name="bert-base",
        title="BERT base",
        published_params=110_106_428,
        source=BERT_SOURCE,
        aliases=("bert",),
    ),
    encoder(
        EncoderShape(vocab=30522, hidden=1024, layers=24, heads=16, inner=4096),
        name="bert-large",
        title="BERT large",
        published_params=336_226_108,
        source=BERT_SOURCE,
    ),
    encoder(
        EncoderShape(
            vocab=50265,
            hidden=768,
            layers=12,
            heads=12,
            inner=3072,
            position_rows=514,
            segment_rows=1,
            next_sentence=False,
        ),
        name="roberta-base",
        title="RoBERTa base",
        published_params=124_697_433,
        source="Liu et al. 2019, arXiv 1907.11692; parameters: model card FacebookAI/roberta-base",
    ),
    encoder(
        EncoderShape(
            vocab=50265,
            hidden=1024,
            layers=24,
            heads=16,
            inner=4096,
            position_rows=514,
            segment_rows=1,
            next_sentence=False,
        ),
        name="roberta-large",
        title="RoBERTa large",
        published_params=355_412_057,
        source="Liu et al. 2019, arXiv 1907.11692; parameters: model card FacebookAI/roberta-large",
    ),
    encoder(
        EncoderShape(
            vocab=30522,
            hidden=768,
            layers=6,
            heads=12,
            inner=3072,
            segment_rows=0,
            next_sentence=False,
        ),
        name="distilbert-base",
        title="DistilBERT base",
        published_params=66_985_530,
        source="Sanh et al. 2019, arXiv 1910.01108; parameters: model card distilbert",
        aliases=("distilbert",),
    ),
)
