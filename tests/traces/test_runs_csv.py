"""The table of runs: every mistake is named by its row and column."""

from __future__ import annotations

import pytest
from trace_examples import RUNS_CSV

from advisor.core.errors import TraceError
from advisor.traces import read, read_all

HEADER = "model,gpu_name,gpus,step_time_s,global_batch,gpu_busy_share,usd_per_h\n"
GOOD = "GPT-2,V100,8,0.5,64,0.9,24.5\n"


def test_every_row_is_a_run() -> None:
    first, second = read_all(RUNS_CSV.encode(), "runs.csv")
    assert (first.model, second.model) == ("Llama-2-7B", "ResNet-50")
    assert second.gpu_busy_share is None
    assert any("holds 2 runs" in text for text in read(RUNS_CSV.encode()).warnings)
    assert len(read_all(b'{"train_runtime": 5, "train_samples_per_second": 2}')) == 1


def test_separators_and_other_names_of_columns() -> None:
    text = "Model;Accelerator;Accelerators;step_time_s\nGPT-2;V100;8;0.5\n\n"
    (run,) = read_all(text.encode("utf-8-sig"))
    assert (run.gpu_name, run.gpus, run.step_time_s) == ("V100", 8, 0.5)


def test_step_time_follows_from_throughput_and_batch() -> None:
    text = "model,gpu_name,gpus,global_batch,throughput,throughput_unit\nA,T4,1,64,32,images/s\n"
    assert read(text.encode()).step_time_s == 2.0


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("GPT-2,V100,8,0.5,64,0.9,NaN", "row 3, column usd_per_h: “NaN” is not a number"),
        ("GPT-2,V100,8,0.5,64,0.9,inf", "row 3, column usd_per_h: “inf” is not a number"),
        ("GPT-2,V100,8,fast,64,0.9,1", "row 3, column step_time_s: “fast” is not a number"),
        ("GPT-2,V100,8,-1,64,0.9,1", "row 3, column step_time_s: -1 is not possible"),
        ("GPT-2,V100,8,1e12,64,0.9,1", "row 3, column step_time_s: 1e12 is not possible"),
        ("GPT-2,V100,2.5,0.5,64,0.9,1", "row 3, column gpus: 2.5 is not possible.*whole"),
        ("GPT-2,V100,8,0.5,64,93,1", "row 3, column gpu_busy_share: 93 is not possible.*0 to 1"),
        ("GPT-2,V100,8,0.5,64,0.9", "row 3: 6 cells under 7 columns"),
        ("GPT-2,V100,8,,64,0.9,1", "row 3: neither a step time nor"),
    ],
)
def test_bad_cells_are_named(row: str, message: str) -> None:
    with pytest.raises(TraceError, match=message):
        read_all((HEADER + GOOD + row + "\n").encode(), "runs.csv")


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("model,gpus,step_time_s,gpu_nme", "column 4: unknown column “gpu_nme”.*gpu_name"),
        ("model,gpus,step_time_s,qqqqqq", "column 4: unknown column.*Columns are: .*comm_share"),
        ("model,gpus,step_time_s,gpus", "column 4: column “gpus” is there twice"),
    ],
)
def test_bad_headers_are_named(header: str, message: str) -> None:
    with pytest.raises(TraceError, match=message):
        read_all((header + "\nGPT-2,8,0.5,V100\n").encode(), "runs.csv")


def test_a_header_alone_is_no_table() -> None:
    with pytest.raises(TraceError, match="no rows"):
        read(HEADER.encode())
