"""A job in free words, taken apart: ``train GPT-2 on 300 billion tokens in 3 days``."""

from __future__ import annotations

import re
from typing import Final

# Bounded, so that no text takes long.
_NUMBER: Final = (
    r"\d[\d,._]{0,30}(?:e\d{1,3})?(?:\s*(?:[kmbt]|thousand|million|billion|trillion)(?![\w]))?"
)
IS: Final = r"(?:\s+of\s+|\s*[=:]\s*|\s+)"
_MONEY: Final = rf"(?:(?:\$|usd)\s*{_NUMBER}|{_NUMBER}\s*(?:\$|usd|dollars?))"
TIME: Final = r"(?:minutes?|mins?|hours?|hrs?|h|days?|d|weeks?|wks?|w)"
SIZE: Final = r"(?:(?:seq(?:uence)?|context)(?:[ _-]?len(?:gth)?)?|resolution|image)"
ADAPTED: Final = ("lora", "qlora")
_FINE_TUNING: Final = re.compile(r"fine-?\s?tun(?:e|ing)", re.IGNORECASE)
# What a job says beside its model, wherever it stands.
_PHRASE: Final = re.compile(
    r"(?<![\w$.,-])(?:"
    + "|".join(
        (
            rf"{_NUMBER}\s*(?:tokens?|epochs?|steps?|iterations?|samples?|images?|examples?)",
            rf"(?:global\s+)?batch(?:\s*-?size)?{IS}{_NUMBER}",
            rf"bs{IS}{_NUMBER}",
            rf"{SIZE}{IS}{_NUMBER}",
            rf"data ?set{IS}{_NUMBER}(?:\s+samples)?",
            rf"(?:lora\s+)?rank{IS}{_NUMBER}",
            rf"(?:(?:finish(?:ed)?|done)\s+)?(?:within|in|under|deadline){IS}{_NUMBER}\s*{TIME}",
            rf"(?:budget|at\s+most|under|up\s+to|max(?:imum)?|less\s+than|below|for){IS}{_MONEY}",
            rf"(?:full\s+)?{_FINE_TUNING.pattern}|q?lora|pre-?train(?:ing)?",
            "fp32|tf32|fp16|bf16|fp8",
            r"imagenet(?:-1k)?",
        )
    )
    + r")(?![\w-])",
    re.IGNORECASE,
)
_FILLER: Final = frozenset(
    ("a", "an", "and", "at", "for", "from", "i", "it", "its", "model", "my", "of", "on", "our",
     "please", "run", "scratch", "the", "to", "train", "training", "using", "want", "we", "with")
)  # fmt: skip


def parts_of(text: str) -> list[str]:
    """Return the phrases of a text in their order, and what stands between them.

    >>> parts_of("finetune llama-3-8b on 50k samples for 3 epochs")
    ['llama-3-8b', 'finetune', '50k samples', '3 epochs']

    What is no phrase, the model first of all, comes first.
    """
    phrases, others, end = [], [], 0
    for found in _PHRASE.finditer(text):
        others.append(text[end : found.start()])
        phrases.append(found[0].strip())
        end = found.end()
    others.append(text[end:])
    if any(phrase.lower() in ADAPTED for phrase in phrases):
        phrases = [phrase for phrase in phrases if not _FINE_TUNING.match(phrase)]
    return [kept for other in others if (kept := _without_filler(other))] + phrases


def is_phrase(text: str) -> bool:
    """Return whether a text is something a job says beside its model."""
    return _PHRASE.fullmatch(text) is not None


def _without_filler(text: str) -> str:
    words = text.split()
    while words and words[0].lower() in _FILLER:
        words.pop(0)
    while words and words[-1].lower() in _FILLER:
        words.pop()
    return " ".join(words)
