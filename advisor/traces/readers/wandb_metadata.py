"""``wandb-metadata.json``: the machine of a run on Weights & Biases, and how it was started."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any, ClassVar, Final

from advisor.traces.draft import Draft
from advisor.traces.jsons import above_zero, document
from advisor.traces.reader import READERS
from advisor.traces.scrub import base_name

if TYPE_CHECKING:
    from advisor.traces.source import Source
    from advisor.traces.trace import Trace


# Of these a file has those that its version and its machine know.
_COMPANY: Final = (b'"executable"', b'"codePath', b'"program"', b'"gpu_count"', b'"gpu_nvidia"')


@READERS.register("wandb_metadata")
class WandbMetadataReader:
    """Name, memory and number of the GPUs of the machine; the job may have used fewer."""

    label: ClassVar[str] = "W&B metadata"
    anywhere: ClassVar[bool] = False
    order: ClassVar[int] = 21

    @staticmethod
    def sniff(head: bytes) -> bool:
        """See keys that only this file has together."""
        return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and (
            b'"startedAt"' in head and any(key in head for key in _COMPANY)
        )

    @staticmethod
    def read(source: Source) -> Trace:
        """Read the metadata; users, hosts and paths stay behind."""
        values = document(source)
        draft = Draft(format="wandb_metadata")
        _set_devices(draft, values)
        arguments = _arguments(values.get("args"))
        draft.micro_batch = above_zero(arguments.get("per_device_train_batch_size"))
        for precision in ("bf16", "fp16"):
            if arguments.get(precision, "").lower() == "true":
                draft.precision = precision
        model = base_name(arguments.get("model_name_or_path", ""))
        draft.model = model if model and "REDACTED" not in model else None
        if draft.gpus_on_host:
            draft.warn(
                f"The file lists the {draft.gpus_on_host} GPUs of the machine; how many of them "
                "the job used is not in it."
            )
        draft.warn("There is no speed in this file; add wandb-summary.json or the log.")
        return draft.finish()


def _set_devices(draft: Draft, values: dict[str, Any]) -> None:
    listed = values.get("gpu_devices", values.get("gpu_nvidia"))
    devices = [d for d in listed if isinstance(d, dict)] if isinstance(listed, list) else []
    first = devices[0] if devices else {}
    name = values.get("gpu") or first.get("name")
    draft.gpu_name = str(name) if name else None
    count = above_zero(values.get("gpu_count")) or len(devices)
    draft.gpus_on_host = int(count) or None
    draft.gpu_memory_bytes = above_zero(first.get("memory_total", first.get("memoryTotal")))


def _arguments(given: object) -> dict[str, str]:
    """Return ``--name value`` and ``--name=value`` as a table."""
    words = [str(word) for word in given] if isinstance(given, list) else []
    found: dict[str, str] = {}
    for word, following in zip_longest(words, words[1:], fillvalue=""):
        if word.startswith("--"):
            name, _, value = word[2:].partition("=")
            found[name] = value or ("" if following.startswith("--") else following)
    return found
