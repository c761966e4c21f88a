"""Distil the tables of ``data/profiles/`` from the reference data.

Run by hand when the reference changes: ``python data/distil_profiles.py``. Only rows under a
permissive licence are taken; `LICENCES` names them.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final

import pandas as pd

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from advisor.testing.reference import reference_dir  # noqa: E402 - the project is a folder up
from benchmarks.measured_runs import read_measured_runs  # noqa: E402

OUT: Final = ROOT / "data" / "profiles"
LICENCES: Final = {
    "aws-samples": "MIT-0",
    "bigscience": "Apache-2.0",
    "cm-dare": "Apache-2.0",
    "detectron2": "Apache-2.0",
    "dlperf": "Apache-2.0",
    "gavel": "MIT",
    "internevo": "Apache-2.0",
    "lambda-tf": "BSD-3-Clause",
    "litgpt": "Apache-2.0",
    "llm-foundry": "Apache-2.0",
    "maxtext": "Apache-2.0",
    "megatron-bridge": "Apache-2.0",
    "megatron-llama": "Apache-2.0",
    "mlperf": "Apache-2.0",
    "nemo-docs": "Apache-2.0",
    "nemo-launcher": "Apache-2.0",
    "profet": "MIT",
    "ryujaehun": "MIT",
    "sailor": "MIT",
    "timm": "Apache-2.0",
    "torchtitan": "BSD-3-Clause",
    "transient-dl": "Apache-2.0",
    "zeus": "Apache-2.0",
}
TIMM_VARIANTS: Final = re.compile(
    r"_(in22ft1k|in21ft1k|in21k|ns|ap|hnf|hnfd|sam|miil|22k|384_in22ft1k|8xd|dino|ttst|a1|fb)$"
)


def main() -> None:
    """Write every table of ``data/profiles/``."""
    reference = reference_dir()
    if reference is None:
        raise SystemExit("no reference data: set ADVISOR_REFERENCE_DIR to its directory")
    OUT.mkdir(parents=True, exist_ok=True)
    timm_facts(reference)
    runs(reference)


def timm_facts(reference: Path) -> None:
    """FLOPs, activations and parameters of the image networks that timm measured."""
    raw = reference / "data" / "raw" / "timm"
    infer = pd.concat([pd.read_csv(f) for f in sorted(raw.glob("*infer*.csv"))])
    infer = infer.drop_duplicates("model").set_index("model")
    trained = pd.concat([pd.read_csv(f) for f in sorted(raw.glob("*train*.csv"))])["model"]
    rows = []
    for model in sorted(trained.unique()):
        name = model
        while name not in infer.index and TIMM_VARIANTS.search(name):
            name = TIMM_VARIANTS.sub("", name)
        if name not in infer.index:
            print("no FLOPs for", model)
            continue
        fact = infer.loc[name]
        rows.append(
            {
                "model": model,
                "params": fact["param_count"] * 1e6,
                "reference_size": int(fact["infer_img_size"]),
                "forward_gmacs": fact["infer_gmacs"],
                "activation_melements": fact["infer_macts"],
                "source": f"timm inference benchmark ({name})",
            }
        )
    ours = set(pd.read_csv(OUT / "model_facts.csv")["model"])
    table = pd.DataFrame(rows)
    table = table[~table["model"].isin(ours)]
    table.to_csv(OUT / "model_facts_timm.csv", index=False)
    print(len(table), "timm facts")


def runs(reference: Path) -> None:
    """Measured runs under a permissive licence, in the store's columns."""
    frame = read_measured_runs(reference / "data" / "measured_runs.csv")
    family = frame["source"].str.replace(r"^mlperf-.*", "mlperf", regex=True)
    # A number is no model: rows of a table whose columns were read one off.
    misread = frame["model"].str.fullmatch(r"[\d.,]+")
    frame = frame[family.isin(LICENCES) & frame["step_time_s"].notna() & ~misread]
    for name in ("params", "step_time_s", "forward_flops_per_sample", "global_batch"):
        frame[name] = frame[name].map(lambda value: float(f"{value:.6g}"))
    base = frame["source"].str.replace(r"^mlperf-.*", "mlperf", regex=True)
    sources = pd.DataFrame({"source": frame["source"], "licence": base.map(LICENCES)})
    sources["url"] = frame["url"].str.extract(r"^(https://github.com/[^/]+/[^/]+)")[0]
    sources = sources.drop_duplicates("source").sort_values("source")
    sources[["source", "url", "licence"]].to_csv(OUT / "sources.csv", index=False)
    frame = frame.drop(columns=["row", "task", "notes"])
    frame = frame.drop_duplicates(subset=[c for c in frame if c != "url"])
    whole = ["layers", "hidden", "sample_size", "year", "nodes"]
    frame[whole] = frame[whole].round().astype("Int64")
    frame.to_csv(OUT / "runs.csv", index=False)
    print(len(frame), "runs from", len(sources), "sources")


if __name__ == "__main__":
    main()
