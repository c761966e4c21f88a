"""The same run as other versions, systems and launchers write it: the numbers stay the same."""

from __future__ import annotations

import csv
import gzip
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest
import trace_binaries as binaries
import trace_logs as logs
import trace_tables as tables
from trace_examples import EXAMPLES, dumped, event, profiler_events, profiler_trace

from advisor.core.errors import TraceError
from advisor.traces import Trace, read
from advisor.traces.trace import MAIN_KEYS

BINARY: Final = {"nsys_sqlite", "tensorboard_tfevents", "tf_jax_xplane"}
TEXTS: Final = sorted(set(EXAMPLES) - BINARY)
LOGS: Final = [n for n in TEXTS if EXAMPLES[n][:1] not in b"{[" and not n.endswith("_csv")]
LAUNCHED: Final = sorted(
    {n for n in LOGS if n.endswith("_log")}
    | {"hf_trainer_stdout", "dllogger_jsonl", "deepspeed_flops_profiler"}
)
LAUNCHERS: Final = (b"[rank0]:", b"0: ", b"[default0]:", b"[1,0]<stdout>:")


def numbers(trace: Trace) -> dict[str, object]:
    fields = trace.to_dict()
    return {key: fields[key] for key in MAIN_KEYS if key != "warnings"}


def assert_same(changed: bytes, name: str) -> None:
    assert numbers(read(changed)) == numbers(read(EXAMPLES[name]))


def said(trace: Trace) -> str:
    return " ".join(trace.warnings)


@pytest.mark.parametrize("name", TEXTS)
def test_line_ends_and_marks_of_windows_change_nothing(name: str) -> None:
    text = EXAMPLES[name]
    assert_same(text.replace(b"\n", b"\r\n"), name)
    assert_same(b"\xef\xbb\xbf" + text, name)
    assert_same(text.decode().encode("utf-16"), name)
    assert_same(gzip.compress(text.decode().encode("utf-16")), name)
    assert_same(text.rstrip(), name)
    assert_same(text + b"\n\n", name)


@pytest.mark.parametrize("name", LAUNCHED)
def test_ranks_that_launchers_put_before_lines_change_nothing(name: str) -> None:
    lines = EXAMPLES[name].rstrip().split(b"\n")
    for launcher in LAUNCHERS:
        assert_same(b"\n".join(launcher + line for line in lines), name)
    assert_same(b"+ srun x\nWARNING: noise\n" * 2000 + EXAMPLES[name], name)


@pytest.mark.parametrize("name", LAUNCHED)
def test_a_last_line_that_is_cut_changes_nothing(name: str) -> None:
    last = EXAMPLES[name].rstrip().split(b"\n")[-1]
    assert_same(EXAMPLES[name] + last[: len(last) // 3], name)


@pytest.mark.parametrize("name", ["nvidia_smi_csv", "mlflow_metrics", "wandb_chart_csv"])
def test_semicolons_of_spreadsheets_change_nothing(name: str) -> None:
    assert_same(EXAMPLES[name].replace(b",", b";"), name)


def test_columns_may_come_in_any_order() -> None:
    rows = [line.split(",") for line in tables.NVIDIA_SMI.strip().split("\n")]
    turned = "\n".join(",".join(cell.strip() for cell in reversed(row)) for row in rows)
    assert_same(turned.encode(), "nvidia_smi_csv")
    rows = [line.split(",") for line in tables.LIGHTNING.strip().split("\n")]
    turned = "\n".join(",".join(reversed(row)) for row in rows)
    assert_same(turned.encode(), "lightning_csvlogger")


def test_nvidia_smi_without_units_or_header() -> None:
    bare = tables.NVIDIA_SMI.replace(" %,", ",").replace(" MiB,", ",").replace(" MiB\n", "\n")
    assert_same(bare.encode(), "nvidia_smi_csv")
    headerless = "\n".join(line for line in bare.split("\n") if "timestamp" not in line)
    with pytest.raises(TraceError, match="Keep the header and the units"):
        read(headerless.encode())
    total_first = "".join(
        f"2023/11/04 06:24:5{i}.123, 0, 81920 MiB, {i + 1} MiB, {81919 - i} MiB, 50 %\n"
        for i in range(4)
    )
    trace = read(total_first.encode())
    assert (trace.peak_memory_bytes, trace.gpu_memory_bytes) == (4 * 2**20, 81920 * 2**20)


def test_dmon_with_dates_and_as_csv() -> None:
    dated = "#Date Time gpu pwr sm fb\n#YYYYMMDD HH:MM:SS Idx W % MB\n"
    dated += " 20231104 06:24:50 0 62 40 12000\n 20231104 06:24:51 0 62 60 13000\n"
    csv = "#gpu, pwr, sm, fb\n#Idx, W, %, MB\n0, 62, 40, 12000\n0, 62, 60, 13000\n"
    for text in (dated, csv):
        trace = read(text.encode())
        assert trace.gpu_busy_share == pytest.approx(0.5)
        assert trace.peak_memory_bytes == 13000 * 2**20


def test_dcgmi_prefers_the_profiling_counter() -> None:
    trace = read(b"# Entity  GRACT  GPUTL\n  Id\n  GPU 0  0.9  50\n  GPU 1  0.7  50\n")
    assert trace.gpu_busy_share == pytest.approx(0.8)
    assert trace.gpus == 2


def test_hugging_face_output_without_its_header() -> None:
    text = logs.HF_STDOUT.split("{'loss'", maxsplit=1)
    bars = "100%|██████████| 250/250 [00:10<00:00, 25.0it/s]\n"
    bars += "100%|██████████| 100/100 [08:20<00:00,  5.00s/it]\n"
    trace = read((bars + "{'loss'" + text[1]).encode())
    assert trace.step_time_s == pytest.approx((500 - 100) / 100)
    assert trace.steps == 100


def test_hugging_face_table_of_metrics_alone() -> None:
    table = """\
***** train metrics *****
  epoch                    =        1.0
  train_runtime            = 0:08:20.00
  train_samples_per_second =        3.2
  train_steps_per_second   =        0.2
"""
    assert read(table.encode()).throughput == pytest.approx(3.2)
    bar = "100%|##########| 100/100 [08:20<00:00,  5.00s/it]\n"
    assert read((bar + table).encode()).step_time_s == pytest.approx(5.0)


def test_nanotron_renamed_a_field() -> None:
    renamed = logs.NANOTRON.replace("elapsed_time_per", "time_per")
    assert_same(renamed.encode(), "nanotron_log")


def test_torchtitan_of_2024_says_wps_and_gpu_capacity() -> None:
    old = logs.torchtitan().replace("tps:", "wps:").replace("CUDA capacity", "GPU capacity")
    old = old.replace("NVIDIA H100 with", "NVIDIA H100 (0) with")
    assert_same(old.encode(), "torchtitan_log")


def test_several_reports_of_nsys_in_one_file() -> None:
    calls = "Time (%),Total Time (ns),Num Calls,Avg (ns),Name\n60.0,6000,3,2000,cudaLaunchKernel\n"
    ranges = "Time (%),Total Time (ns),Instances,Avg (ns),Style,Range\n60.0,6000,3,2,PushPop,:a\n"
    both = read((ranges + calls + tables.NSYS_SUMS + tables.NSYS_TRACE).encode())
    assert numbers(both) == numbers(read(tables.NSYS_TRACE.encode()))
    with pytest.raises(TraceError, match="calls of the host"):
        read((ranges + calls).encode())
    converted = tables.NSYS_TRACE.replace("Duration (ns)", "Duration (nsec)")
    assert numbers(read(converted.encode())) == numbers(both)


def test_mlflow_history_and_table_of_runs() -> None:
    points = [{"key": "loss", "value": 1, "timestamp": 5000 * i, "step": 10 * i} for i in range(3)]
    assert read(json.dumps({"metrics": points}).encode()).step_time_s == pytest.approx(0.5)
    table = read(b"Start Time,Duration,Run ID,Name,User,loss\n2023-11-04,1.2min,a,r,alice,0.1\n")
    assert table.step_time_s is None
    assert "no time of a step" in said(table)


def test_the_old_profiler_of_autograd() -> None:
    rows = [
        {"name": "aten::mm", "ph": "X", "ts": 1e6, "dur": 100, "pid": "CPU functions", "tid": 1},
        {"name": "gemm", "ph": "X", "ts": 1e6 + 10, "dur": 50, "pid": "CUDA functions", "tid": 0},
        {"name": "gemm", "ph": "X", "ts": 1e6 + 80, "dur": 30, "pid": "CUDA functions", "tid": 0},
    ]
    trace = read(dumped(rows))
    assert trace.gpu_busy_share == pytest.approx(0.8)
    assert trace.gpus == 1


def test_a_profile_of_the_host_only() -> None:
    host = [e for e in profiler_events() if e["cat"] in {"cpu_op", "user_annotation"}]
    trace = read(dumped(profiler_trace(host, distributedInfo=None)))
    assert (trace.gpus, trace.gpu_busy_share) == (0, None)
    assert trace.step_time_s == pytest.approx(6e-4)


def test_rocm_names() -> None:
    events = [
        e | {"name": e["name"].replace("cudaLaunchKernel", "hipExtModuleLaunchKernel")}
        for e in profiler_events()
    ]
    device = {"id": 0, "name": "AMD Instinct MI300X", "totalGlobalMem": 206_141_652_992}
    trace = read(dumped(profiler_trace(events, deviceProperties=[device], roctracer_version=4)))
    assert trace.step_time_s == pytest.approx(1e-3)
    assert trace.gpu_name == "AMD Instinct MI300X"


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_few_steps(steps: int) -> None:
    work = [e for e in profiler_events() if not e["name"].startswith("ProfilerStep")]
    starts = [1e6 + 1200 * i for i in range(steps)]  # each launches the work of two milliseconds
    marks = [event(f"ProfilerStep#{i}", "user_annotation", at, 1200) for i, at in enumerate(starts)]
    trace = read(dumped(profiler_trace([*marks, *work])))
    assert trace.step_time_s == {0: None, 1: 1.2e-3, 2: 2e-3}[steps]
    assert trace.gpu_busy_share is not None


def test_tags_that_count_epochs_are_no_steps() -> None:
    trace = read(binaries.epochs())
    assert trace.step_time_s is None
    assert "count epochs" in said(trace)


def test_megatron_numbers_that_are_cut_off_do_not_count() -> None:
    log = logs_of_megatron()
    cut = log[: log.rindex("global batch size: ") + len("global batch size: 1")]
    found = read(cut.encode())
    assert (found.step_time_s, found.global_batch) == (2.0, 128)
    assert not any("batch grows" in text for text in found.warnings)
    cut = log[: log.rindex("(ms): ") + len("(ms): 20")]
    assert read(cut.encode()).step_time_s == 2.0


def logs_of_megatron() -> str:
    lines = [
        f" iteration {n:8d}/     100 | consumed samples: {n * 128:12d} | elapsed time per iteration"
        f" (ms): {9000.0 if n == 1 else 2000.0} | learning rate: 1.000E-05 | global batch size:"
        f"   128 | lm loss: 1.0E+01 |"
        for n in range(1, 4)
    ]
    return "\n".join(lines)


def test_torchtitan_of_late_2025_lists_its_parallelism() -> None:
    log = logs.torchtitan(
        "Building device mesh with parallelism: pp=2, dp_replicate=1, dp_shard=4, cp=1, tp=2, "
        "ep=4, etp=1"
    )
    found = read(log.encode())
    assert found.gpus == 16
    assert found.layout == "pp=2;tp=2;ep=4;dp=4"


def test_torchtitan_without_a_mesh_does_not_count_devices_that_share_a_model() -> None:
    log = logs.torchtitan("Applied Tensor Parallelism to the model")
    found = read(log.encode())
    assert (found.gpus, found.throughput) == (None, None)
    assert any("no line of the device mesh" in text for text in found.warnings)


def test_dcgm_of_the_first_exporter() -> None:
    old = (
        "# TYPE dcgm_gpu_utilization gauge\n"
        'dcgm_gpu_utilization{gpu="0",uuid="GPU-604"} 5\n'
        'dcgm_gpu_utilization{gpu="1",uuid="GPU-605"} 5\n'
    )
    found = read(old.encode())
    assert (found.format, found.gpus) == ("dcgm_prometheus_text", 2)


def test_nsys_report_with_tabs_and_with_units_close_to_names() -> None:
    report = tables.NSYS_TRACE
    usual = read(report.encode())
    rows = [
        [f'"{cell}"' if "," in cell else cell for cell in next(csv.reader([line]))]
        for line in report.splitlines()
    ]
    tabs = "\n".join("\t".join(row) for row in rows)
    close = report.replace("Start (", "Start(").replace("Duration (", "Duration(")
    for other in (tabs, close):
        assert read(other.encode()).gpu_busy_share == usual.gpu_busy_share


def test_nsys_named_the_table_of_gpus_otherwise_in_2020(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    path.write_bytes(binaries.nsys())
    with closing(sqlite3.connect(path)) as database:
        database.execute("ALTER TABLE TARGET_INFO_GPU RENAME TO TARGET_INFO_CUDA_GPU")
        database.commit()
    assert read(path).gpu_name == read(binaries.nsys()).gpu_name is not None


def test_wandb_metadata_without_paths() -> None:
    kept = {"startedAt", "gpu", "gpu_count", "python", "os"}
    small = {key: value for key, value in tables.WANDB_METADATA.items() if key in kept}
    found = read(dumped(small | {"gpu_count": 8, "gpu": "NVIDIA H100 80GB HBM3"}))
    assert (found.format, found.gpus_on_host) == ("wandb_metadata", 8)


def test_wandb_chart_over_dates() -> None:
    rows = [f'"2024-05-01T10:00:{10 * n:02d}.000Z","{20 * n}"' for n in range(1, 5)]
    chart = "\n".join(['"Wall Time","run - train/global_step"', *rows])
    assert read(chart.encode()).step_time_s == 0.5


def test_mlflow_history_with_dates() -> None:
    rows = [f"loss,1.0,2023-11-14 22:13:{n:02d}.000,{10 * n},abc" for n in range(10, 15)]
    table = "\n".join(["key,value,timestamp,step,run_id", *rows])
    assert read(table.encode()).step_time_s == pytest.approx(0.1)


def test_dllogger_lines_without_their_prefix() -> None:
    assert read(logs.DLLOGGER.encode()) == read(logs.DLLOGGER.replace("DLLL ", "").encode())


def test_mlperf_without_the_name_of_its_benchmark() -> None:
    log = logs.mlperf(submission_benchmark="bert")
    rest = "\n".join(line for line in log.splitlines() if "submission_benchmark" not in line)
    assert read(log.encode()).throughput is not None
    found = read(rest.encode())
    assert (found.throughput, found.step_time_s) == (None, None)
    assert "what its number of samples counts" in said(found)
