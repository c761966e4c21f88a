"""Ten public traces and logs of different formats on the page Profiles, dropped together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from ui_apps import open_page

from advisor.advice import Engine
from advisor.core.units import GB, GIB
from advisor.testing import manifest

pytestmark = pytest.mark.reference

ROWS = manifest.rows()
FILES = (
    "kineto/resnet50_v100_workers0.pt.trace.json.gz", "kineto/mi300x_resnet_8rank.json.gz",
    "kineto/dlrm_8workers.tar.gz", "nsys/synthetic_1pct_idle.sqlite",
    "megatron/gpt2_20b_16gpu.out", "torchtitan/llama2_7b_24xPVC.log",
    "mlperf/v3.0_nvidia_dgxh100_resnet.txt", "hf_trainer/whisper_large/trainer_state.json",
    "nvidia_smi/headerless_5s.csv", "broken/truncated.json",
)  # fmt: skip
UNITS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "%": 0.01, "GB": GB, "MB": GB / 1000}


@pytest.fixture(scope="module")
def page(
    engine: Engine, engine_data_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[AppTest]:
    """The page after all files were dropped at once."""
    folder = manifest.reference_dir()
    if folder is None or not ROWS:
        pytest.skip("no reference data: set ADVISOR_REFERENCE_DIR to its directory")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADVISOR_DATA_DIR", str(engine_data_dir))
        patch.setenv("ADVISOR_REFIT", "off")
        test = open_page("profiles")
        files = [(name, manifest.path_of(folder, name).read_bytes(), "") for name in FILES]
        test.file_uploader[0].set_value(files).run()
        for _ in range(20):  # a busy machine may take longer than the page waits
            if f"**{len(FILES)} files**" in said(test):
                break
            test.run()
        yield test


def said(test: AppTest) -> str:
    assert not test.exception
    return "\n".join(element.value for element in test.markdown)


def card(test: AppTest, name: str) -> dict[str, str]:
    """Return what the card of a file tells, by title."""
    texts = [element.value for element in test.markdown]
    shown = name.rpartition("/")[2]
    starts = [at for at, text in enumerate(texts) if text.startswith("#### ")]
    begin = next(at for at in starts if shown in texts[at].replace("\\", ""))
    end = next((at for at in starts if at > begin), len(texts))
    parts = re.compile(r":small\[:gray\[(.+?)\]\]  \n(.*)", re.DOTALL)
    found = [parts.fullmatch(text) for text in texts[begin:end]]
    return {one[1]: one[2] for one in found if one} | {"": "\n".join(texts[begin:end])}


def value(text: str) -> float | None:
    """Return the first number of a text with its unit, None if it is not told."""
    found = re.search(r"([\d,.]+)\s*(ms|s|min|%|GB|MB)?(?!\w)", text.replace("\xa0", " "))
    if text.startswith(":gray[not told]") or found is None:
        return None
    return float(found[1].replace(",", "")) * UNITS.get(found[2], 1.0)


@pytest.mark.parametrize("name", [name for name in FILES if name not in manifest.REFUSED])
def test_a_public_file_becomes_a_card_of_right_answers(page: AppTest, name: str) -> None:
    row, told = ROWS[name], card(page, name)
    step = manifest.number(row["answer_step_time_s"])
    busy = manifest.number(row["gpu_busy_share"])
    comm = manifest.number(row["comm_share"])
    batch = manifest.number(row["global_batch"])
    peak = manifest.number(row["peak_mem_gib"])
    if step is not None or row["answer_step_time_s"]:
        assert value(told["Step time"]) == (step and pytest.approx(step, rel=0.02))
    if busy is not None or row["gpu_busy_share"]:
        assert value(told["Busy"]) == (busy and pytest.approx(busy, abs=0.01))
    if comm is not None or row["comm_share"]:
        close = comm is not None and pytest.approx(comm, abs=0.01)
        assert value(told["Communication"]) == (None if comm is None else close)
    if batch is not None:
        assert value(told["Global batch"]) == batch
    if peak is not None:
        assert value(told["Peak memory"]) == pytest.approx(peak * GIB, rel=0.02)
    gpus = manifest.number(row["gpus"])
    if gpus:
        assert told["Accelerators"].replace("\\", "").strip("*").startswith(f"{gpus:.0f} ×")


def test_a_public_file_that_is_cut_off_is_refused_in_words(page: AppTest) -> None:
    (name,) = set(FILES) & set(manifest.REFUSED)
    told = card(page, name)
    assert ":red-badge[Not read]" in told[""]
    assert manifest.REFUSED[name] in told[""]
    assert "What to do" in told[""]


def test_the_list_says_how_many_were_read(page: AppTest) -> None:
    assert f"**{len(FILES)} files**: {len(FILES) - 1} read, :red[1 not]" in said(page)


def test_the_card_of_several_workers_names_the_slow_one(page: AppTest) -> None:
    assert re.search(r"Rank \d+ is the slowest", card(page, "kineto/dlrm_8workers.tar.gz")[""])
