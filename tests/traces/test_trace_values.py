"""What each small file holds is read from it: numbers worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest
import trace_tables as tables
from trace_examples import EXAMPLES

from advisor.core.units import GB, GIB, MIB
from advisor.traces import read

SAID: dict[str, dict[str, Any]] = {
    "kineto_chrome_trace": {
        "step_time_s": 1e-3,
        "steps": 4,
        "gpus": 2,
        "gpus_on_host": 8,
        "gpu_name": "NVIDIA A100-SXM4-80GB",
        "gpu_memory_bytes": 85e9,
        "framework": "PyTorch",
    },
    "megatron_log": {
        "step_time_s": 2.0,
        "steps": 40,
        "global_batch": 128,
        "throughput": 128 * 2048 / 2,
        "throughput_unit": "tokens/s",
        "gpus": 16,
        "peak_memory_bytes": 20480 * MIB,
        "micro_batch": 2,
        "sequence_length": 2048,
        "precision": "bf16",
        "layout": "tp=4;pp=2;dp=2",
    },
    "hf_trainer_state": {
        "step_time_s": 4.0,
        "steps": 100,
        "global_batch": 16,
        "throughput": 3.2,
        "throughput_unit": "samples/s",
        "gpus": None,
    },
    "hf_all_results": {"step_time_s": None, "throughput": 3.2, "global_batch": None},
    "runs_csv": {
        "step_time_s": 1.25,
        "gpus": 8,
        "model": "Llama-2-7B",
        "usd_per_h": 32.77,
        "gpu_busy_share": 0.93,
        "layout": "tp=2;dp=4",
    },
    "hf_trainer_stdout": {
        "step_time_s": 4.0,
        "steps": 100,
        "global_batch": 16,
        "micro_batch": 4,
        "gpus": 2,
        "params": 1e6,
    },
    "deepspeed_log": {
        "step_time_s": 2.0,
        "steps": 40,
        "global_batch": 64,
        "throughput": 32,
        "peak_memory_bytes": 20 * GIB,
        "model": "facebook/opt-125m",
        "sequence_length": 512,
        "gpus": None,
    },
    "deepspeed_chat_rlhf_log": {"step_time_s": 4.0, "global_batch": 64, "throughput": 16.0},
    "deepspeed_flops_profiler": {
        "step_time_s": 0.1,
        "gpus": 4,
        "global_batch": 16,
        "params": 1e8,
        "throughput": 160,
        "model": "TinyModel",
        "layout": "tp=2;dp=2",
    },
    "torchtitan_log": {
        "step_time_s": 0.5,
        "gpus": 8,
        "throughput": 8 * 16384,
        "throughput_unit": "tokens/s",
        "global_batch": 16,
        "sequence_length": 4096,
        "peak_memory_bytes": 40 * GIB,
        "gpu_name": "NVIDIA H100",
    },
    "nanotron_log": {
        "step_time_s": 2.34,
        "gpus": 8,
        "throughput": 224e3,
        "global_batch": 256,
        "peak_memory_bytes": 30720 * MIB,
    },
    "nanochat_log": {"step_time_s": 0.5, "gpus": 4, "throughput": 524288, "global_batch": 128},
    "composer_log": {
        "step_time_s": 1024 / 2.733,
        "gpus": 16,
        "global_batch": 1024,
        "sequence_length": 2048,
        "micro_batch": 8,
        "peak_memory_bytes": 38.5 * GB,
    },
    "mlperf_log": {
        "throughput": 100,
        "throughput_unit": "images/s",
        "step_time_s": 4.0,
        "steps": 50,
        "global_batch": 400,
        "gpus": 16,
        "nodes": 2,
        "gpu_name": "A100",
        "model": "resnet",
    },
    "dllogger_jsonl": {"throughput": 128, "step_time_s": 0.5, "global_batch": 64},
    "lightning_csvlogger": {"step_time_s": None, "steps": 150},
    "nvidia_smi_csv": {
        "gpus": 2,
        "gpu_busy_share": 0.4,
        "peak_memory_bytes": 40960 * MIB,
        "gpu_memory_bytes": 81920 * MIB,
        "gpu_name": "NVIDIA A100-SXM4-80GB",
        "step_time_s": None,
    },
    "nvidia_smi_dmon": {"gpus": 2, "gpu_busy_share": 0.5, "peak_memory_bytes": 4096 * MIB},
    "run_facts": {"gpus": 8, "step_time_s": 0.5, "throughput": 64, "model": "My-Net"},
    "dcgmi_dmon": {"gpus": 2, "gpu_busy_share": 0.6, "peak_memory_bytes": 13000 * MIB},
    "dcgm_prometheus_text": {"gpus": 2, "gpu_name": "NVIDIA L4", "gpu_busy_share": None},
    "wandb_summary": {"step_time_s": 5.0, "throughput": 3.2, "global_batch": 16},
    "wandb_metadata": {
        "gpus": None,
        "gpus_on_host": 8,
        "gpu_memory_bytes": 85899345920,
        "model": "llama-7b",
        "precision": "bf16",
        "micro_batch": 4,
    },
    "wandb_chart_csv": {
        "step_time_s": 2.0,
        "throughput": 1100,
        "throughput_unit": "tokens/s",
    },
    "mlflow_metrics": {"step_time_s": 0.5, "steps": 20},
    "nsys_csv": {
        "gpu_busy_share": 0.75,
        "comm_share": 0.3,
        "comm_exposed_share": 0.2,
        "gpus": 1,
        "gpu_name": "NVIDIA A100-SXM4-80GB",
    },
    "nsys_sqlite": {
        "gpu_busy_share": 2.85 / 4,
        "comm_share": 0.3,
        "comm_exposed_share": 0.2,
        "gpus": 1,
        "gpu_name": "NVIDIA H100 80GB HBM3",
        "step_time_s": 1e-3,
    },
    "tensorboard_tfevents": {"step_time_s": 0.5, "global_batch": 32, "throughput": 64},
    "tf1_timeline_json": {"step_time_s": 0.01, "gpus": 1, "gpu_busy_share": 0.5},
    "xla_trace_json": {
        "step_time_s": 1e-3,
        "gpus": 1,
        "gpu_busy_share": 0.8,
        "comm_share": 0.2,
        "comm_exposed_share": 0.2,
    },
    "tf_jax_xplane": {"step_time_s": None, "is_measured": False},
    "pytorch_execution_trace": {"step_time_s": None, "is_measured": False},
    "tensorboard_profile_overview_json": {"step_time_s": None, "is_measured": False},
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_the_file_holds_is_read(name: str) -> None:
    trace = read(EXAMPLES[name])
    assert trace.format == ("hf_train_results" if name == "hf_all_results" else name)
    for field, value in SAID[name].items():
        got = getattr(trace, field)
        assert got == (pytest.approx(value) if isinstance(value, float | int) else value), field


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("megatron_log", "Not counted: 1 line after a start"),
        ("megatron_log", "at full cost: 1 iteration."),
        ("hf_trainer_state", "includes 100 s of evaluations"),
        ("hf_all_results", "train_samples is the size of the data set"),
        ("torchtitan_log", "16,384 tokens/s per device; 8 devices"),
        ("lightning_csvlogger", "no column of time"),
        ("nvidia_smi_csv", "over the 66.7% of samples with any use 60.0%"),
        ("dcgm_prometheus_text", "one moment"),
        ("dcgm_prometheus_text", "Not used: 1 value that DCGM"),
        ("wandb_metadata", "lists the 8 GPUs of the machine"),
        ("tf_jax_xplane", "trace.json.gz"),
        ("pytorch_execution_trace", "without durations"),
        ("tensorboard_profile_overview_json", "page of a report"),
        ("deepspeed_chat_rlhf_log", "generation takes 2.5 s and training 1.25 s"),
    ],
)
def test_the_user_is_told(name: str, words: str) -> None:
    assert words in " ".join(read(EXAMPLES[name]).warnings)


def test_sums_by_kernel_give_no_shares() -> None:
    trace = read(tables.NSYS_SUMS.encode())
    assert trace.gpu_busy_share is None
    assert [row.calls for row in trace.kernels] == [30, 10]
    assert trace.kernels[0].total_s == pytest.approx(3e-3)
    assert trace.kernels[1].is_comm
    assert any("25.0% of all kernel time is communication" in text for text in trace.warnings)


def test_lines_of_mlflow_files_are_read() -> None:
    lines = "".join(f"{1700000000000 + 500 * i} {2.5 - i} {i}\n" for i in range(5))
    assert read(lines.encode()).step_time_s == pytest.approx(0.5)


def test_a_chart_over_steps_has_no_time() -> None:
    chart = '"Step","run - train/loss","run - train/loss__MIN","run - train/loss__MAX",""\n'
    trace = read((chart + "1,2.5,2.5,2.5,\n2,2.4,2.4,2.4,\n").encode())
    assert trace.format == "wandb_chart_csv"
    assert trace.step_time_s is None


def test_samples_without_header_and_index_are_counted_by_their_times() -> None:
    lines = [
        f"2024/01/01 00:00:{5 * t:02d}.{100 + 10 * g}, {20 * g} %, 5 %, {1000 + t + g} MiB, 9 MiB"
        for t in range(8)
        for g in range(4)
    ]
    trace = read("\n".join(lines).encode())
    assert trace.gpus == 4
    assert trace.gpu_busy_share == pytest.approx(0.3)
    assert trace.peak_memory_bytes == 1010 * MIB
    assert any("no header" in text for text in trace.warnings)


def test_utf16_text_is_read() -> None:
    text = EXAMPLES["nvidia_smi_csv"].decode().encode("utf-16")
    assert read(text).gpu_busy_share == pytest.approx(0.4)
