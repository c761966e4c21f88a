"""Measured runs as columns of the physics: every rule, and every way to be unusable."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from run_examples import CONVNET, RUN, catalog, frame, one, resolved

from advisor.core.errors import PredictionError
from advisor.predictor.difficulty import model_keys
from advisor.predictor.hardware import facts_of
from advisor.predictor.jobs import Jobs
from advisor.predictor.predictor import Basis, Predictor
from advisor.predictor.run_networks import stated_gbit_per_s
from advisor.predictor.runs import FAMILY_CODES, STACK_CODES, resolve_runs
from advisor.predictor.training import training_table
from advisor.predictor.workload_columns import workload_columns
from advisor.store import Store
from advisor.zoo import build_workload, get

A100, V100 = "A100-80GB", "V100-16GB"


# --- precision -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("precision", "peak", "width"),
    [
        ("fp32", 19.5e12, 4), ("tf32", 156e12, 4), ("fp16", 312e12, 2), ("amp fp16", 312e12, 2),
        ("bf16", 312e12, 2), ("BF16 mixed", 312e12, 2), ("fp8", 312e12, 2), ("mxfp8", 312e12, 2),
        ("fp32 (tf32 on Ampere+)", 156e12, 4),
    ],
)  # fmt: skip
def test_stated_precisions(precision, peak, width) -> None:
    assert one("peak_flops", precision=precision) == peak
    assert one("bytes_per_element", precision=precision) == width
    assert one("optimizer_bytes_per_param", precision=precision) == (8 if width == 4 else 12)
    run = CONVNET | {"precision": precision}
    assert one("optimizer_bytes_per_param", **run) == (4 if width == 4 else 8)


def test_a_precision_that_the_device_lacks_runs_in_the_nearest() -> None:
    assert one("peak_flops", precision="bf16", accelerator=V100) == 125e12
    assert one("peak_flops", precision="tf32", accelerator=V100) == 15.7e12
    assert one("peak_flops", precision="fp8", accelerator="H100-SXM5-80GB") == pytest.approx(
        1979e12, rel=0.01
    )
    # A TPU has BF16 only.
    for precision in ("fp32", "fp16", "bf16", "fp8"):
        assert one("peak_flops", precision=precision, accelerator="TPU v3") == 123e12


def test_fp4_runs_three_quarters_at_twice_the_speed() -> None:
    fp8, fp4 = (one("peak_flops", precision=p, accelerator="B200") for p in ("fp8", "nvfp4"))
    assert fp4 == pytest.approx(fp8 / (0.25 + 0.75 / 2))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({}, 3),  # a language model: BF16
        ({"family": "cnn", "model": "resnet50"}, 0),  # frameworks compute in FP32 unless told
        ({"source": "mlperf-v1.0"}, 2),  # submissions: half precision
        ({"source": "mlperf-v3.1", "accelerator": "H100-SXM5-80GB"}, 4),  # since Hopper: FP8
        ({"source": "mlperf-v3.1", "accelerator": "H100-SXM5-80GB", "family": "cnn",
          "model": "resnet50"}, 2),
    ],
)  # fmt: skip
def test_precisions_that_are_not_stated(change, code) -> None:
    assert one("precision_code", precision="", **change) == code


# --- model -----------------------------------------------------------------------------------


def test_the_shape_of_a_language_model_gives_its_work() -> None:
    run = resolved({"params": np.nan, "layers": 32, "hidden": 4096, "model": "unheard of"}).iloc[0]
    vocabulary = run["vocab"] * 4096
    assert run["params"] == pytest.approx(12 * 32 * 4096**2 + vocabulary)
    attention = 4 * 32 * 4096 * 2048**2
    assert run["attention_flops_per_sample"] == attention
    assert run["forward_flops_per_sample"] == pytest.approx(2 * run["params"] * 2048 + attention)
    assert run["boundary_elements_per_sample"] == 2048 * 4096
    assert run["is_causal"] == run["is_transformer"] == 1


@pytest.mark.parametrize(
    ("params", "hidden", "layers"),
    [(6.74e9, 4096, 32), (13.0e9, 5120, 40), (175e9, 12288, 96), (65.2e9, 8192, 80)],
)
def test_a_parameter_count_alone_gives_the_usual_shape(params, hidden, layers) -> None:
    run = resolved({"params": params, "layers": np.nan, "hidden": np.nan}).iloc[0]
    assert run["hidden"] == pytest.approx(hidden, rel=0.15)
    assert run["layers"] == pytest.approx(layers, rel=0.3)
    assert run["params"] == params


def test_a_convolutional_network_is_known_by_its_name_and_resolution() -> None:
    # 4.1 GMACs at 224 pixels.
    small, large = (resolved(CONVNET | {"sample_size": size}).iloc[0] for size in (224.0, 448.0))
    assert small["forward_flops_per_sample"] == pytest.approx(8.2e9, rel=0.03)
    assert large["forward_flops_per_sample"] == pytest.approx(
        4 * small["forward_flops_per_sample"], rel=0.01
    )
    assert large["activation_elements_per_sample"] == pytest.approx(
        4 * small["activation_elements_per_sample"], rel=0.01
    )
    assert small["params"] == pytest.approx(25.6e6, rel=0.01)
    assert small["is_transformer"] == small["is_causal"] == 0


@pytest.mark.parametrize(
    ("label", "family", "name", "size"),
    [
        ("resnet50", "cnn", "resnet-50", 224), ("MobileNetV2", "cnn", "mobilenet-v2", 64),
        ("VGG16", "cnn", "vgg-16", 32), ("vit_base_patch16_224", "vision", "vit-b-16", 224),
    ],
)  # fmt: skip
def test_networks_of_the_zoo_are_described_as_the_users_own(label, family, name, size) -> None:
    run = resolved(CONVNET | {"model": label, "family": family, "sample_size": size}).iloc[0]
    precision = "fp32"
    workload = build_workload(
        get(name), steps=10, sample_size=size, global_batch=256, precision=precision
    )
    for column, value in workload_columns(workload).items():
        if column != "framework_code":  # a user's job names none that somebody else has measured
            assert run[column] == pytest.approx(value), column


def test_a_namesake_with_other_flops_is_not_taken_for_the_network_of_the_zoo() -> None:
    # Gavel's ResNet-18 has the small stem for CIFAR: 0.56 GMACs at 32 pixels.
    run = resolved(CONVNET | {"model": "ResNet-18", "sample_size": 32.0}).iloc[0]
    assert run["forward_flops_per_sample"] == pytest.approx(1.1e9, rel=0.05)


def test_an_image_too_small_for_the_network_of_the_zoo_is_scaled() -> None:
    small, usual = (resolved(CONVNET | {"model": "AlexNet", "sample_size": s}).iloc[0]
                    for s in (32.0, 224.0))  # fmt: skip
    assert small["reason"] == ""
    ratio = usual["forward_flops_per_sample"] / small["forward_flops_per_sample"]
    assert ratio == pytest.approx(49, rel=0.01)


def test_stated_flops_are_taken_as_they_are() -> None:
    run = CONVNET | {"model": "never heard of", "forward_flops_per_sample": 1e9, "params": 1e6}
    assert one("forward_flops_per_sample", **run) == 1e9


def test_mlperf_trains_bert_without_padding() -> None:
    run = {"model": "BERT-large", "family": "encoder", "sample_size": 512.0, "params": np.nan,
           "layers": np.nan, "hidden": np.nan}  # fmt: skip
    assert one("tokens_per_sample", source="dlperf", **run) == 512
    assert one("tokens_per_sample", source="mlperf-v2.0", **run) == 256
    assert one("tokens_per_sample", source="mlperf-v2.0", **run | {"sample_size": 128.0}) == 128


def test_adapters_train_few_parameters_and_need_no_gradient_of_the_rest() -> None:
    run = resolved({"parallelism": "tp=4;tuning=lora"}).iloc[0]
    assert run["backward_ratio"] == 1.0
    assert run["trainable_params"] == pytest.approx(0.005 * 6.7e9)
    assert run["tensor_parallel"] == 4
    assert one("backward_ratio") == 2.0


@pytest.mark.parametrize(
    ("framework", "source", "stack"),
    [
        ("NeMo/Megatron", "me", "megatron"), ("PyTorch/llm-foundry (FSDP)", "me", "fsdp"),
        ("PyTorch 1.12 timm", "me", "pytorch"), ("MxNet", "me", "mxnet"),
        ("TensorFlow 2.5 Keras", "me", "tensorflow"), ("maxtext", "me", "jax"),
        ("PaddlePaddle", "me", "other"), ("", "me", "other"), ("PyTorch", "mlperf-v1.0", "tuned"),
    ],
)  # fmt: skip
def test_software_stacks(framework, source, stack) -> None:
    assert one("stack_code", framework=framework, source=source) == STACK_CODES[stack]


def test_every_family_has_its_code() -> None:
    for family, code in FAMILY_CODES.items():
        change = CONVNET if family not in ("language", "moe", "encoder") else {}
        assert one("family_code", **change | {"family": family}) == code


# --- hardware --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "gbit"),
    [
        ("8x ConnectX-7 IB NDR 400Gb/Sec", 3200), ("2x ConnectX-6 IB HDR 200Gb/Sec", 400),
        ("NVLink 3.0 600GB/s; 2x ConnectX-6 IB HDR 200Gb/Sec", 400),
        ("NVLINK2.0 300GB/s; 25Gbps", 25), ("100Gb InfiniBand", 100), ("25 Gbit/s", 25),
        ("7x 100GbE; N/A", 700), ("4x200Gbps RDMA", 800), ("XGMI; 10G Ethernet", 10),
        ("NVLINK BRIDGE; 1x ConnectX-5 IB EDR 100Gb/Sec", 100), ("IB HDR", 200),
        ("PCIe; Intel X710 2x10GbE SFP+, Mellanox ConnectX-6 HDR100/100GbE QSFP56", 100),
        ("NVLink; Management: 1x Ethernet 40Gb/Sec, Compute: 8x ConnectX-6 IB HDR 200Gb/Sec", 1600),
        ("NVLink; Storage: 2x ConnectX-7 IB NDR 400Gb/s, Compute: 4x ConnectX-7 IB NDR 400Gb/s",
         1600),
        ("4th Gen NVLINK - 900 GB /Sec ; Compute: 8 x ConnectX - 7 IB NDR 400 Gb / Sec", 3200),
        ("PCIe Gen4; BF3 200Gbps for NS and 2xBF3 400Gbps for EW", 800),
    ],
)  # fmt: skip
def test_networks_as_sources_write_them(text, gbit) -> None:
    assert stated_gbit_per_s(text) == gbit
    assert one("network_bytes_per_s", interconnect=text) == gbit * 1e9 / 8


@pytest.mark.parametrize(
    "text",
    [
        "", "N/A; N/A", "NVLink", "NVLINK 3.0, 200GB/s", "18x 4th Gen NVLink, 900GB/s",
        "NVLink 600GB/s; Management: 1x Ethernet 100Gb/Sec", "PCIe Gen5", "N/A; 1Gb Ethernet",
        "Storage: 2x ConnectX-6 IB HDR 200Gb/sec", "Ethernet 99999999 Gb/s", "TODO; TODO",
        "8x ConnectX-6", "4x InfiniBand 0Gb/s",
    ],
)  # fmt: skip
def test_what_names_no_network_for_training_is_filled_by_the_year_of_the_hardware(text) -> None:
    assert np.isnan(stated_gbit_per_s(text))
    assert one("network_bytes_per_s", interconnect=text) == 800e9 / 8


def test_the_usual_network_and_link_follow_the_hardware() -> None:
    for accelerator, gbit in (("K80", 10), ("P100", 25), (V100, 100), ("H100-SXM5-80GB", 3200)):
        assert one("network_bytes_per_s", accelerator=accelerator) == gbit * 1e9 / 8
    assert one("link_bytes_per_s") == 300e9
    assert one("link_bytes_per_s", accelerator="T4") == 12e9
    assert one("link_bytes_per_s", accelerator="A10G") == 24e9


def test_machines_hold_eight_where_the_source_does_not_say() -> None:
    assert one("devices_per_node", accelerators=32.0, nodes=8.0) == 4
    assert one("devices_per_node", accelerators=32.0, nodes=np.nan) == 8
    assert one("devices_per_node", accelerators=4.0, nodes=np.nan) == 4
    assert one("devices_per_node", accelerators=4.0, nodes=0.0) == 4


def test_attention_is_fused_since_ampere() -> None:
    assert one("fused_attention") == 1
    assert one("fused_attention", accelerator=V100) == 0


def test_a_run_without_a_year_is_as_new_as_its_hardware() -> None:
    assert one("year", year=2018.0) == 2018
    assert one("year", year=np.nan) == one("hardware_year") + 1 == 2021


# --- layout ----------------------------------------------------------------------------------


def layout(text: str, **change: float) -> dict[str, float]:
    names = ["data_parallel", "tensor_parallel", "pipeline_parallel", "zero_stage",
             "micro_batch", "accumulation", "recompute_share", "parameter_servers"]  # fmt: skip
    run = resolved({"accelerators": 64.0, "nodes": 8.0, "parallelism": text} | change).iloc[0]
    assert run["reason"] == ""
    return {name: run[name] for name in names}


def test_a_megatron_layout() -> None:
    found = layout("dp=4;tp=8;pp=2;act_ckpt=True", global_batch=64.0, micro_batch=2.0)
    assert found == {
        "data_parallel": 4, "tensor_parallel": 8, "pipeline_parallel": 2, "zero_stage": 1,
        "micro_batch": 2, "accumulation": 8, "recompute_share": 1, "parameter_servers": 0,
    }  # fmt: skip


def test_a_sharded_layout() -> None:
    text = "dp=64;fsdp=FULL_SHARD;act_ckpt=True;cpu_offload=False;grad_accum=2"
    found = layout(text, global_batch=1024.0, micro_batch=8.0)
    assert found == {
        "data_parallel": 64, "tensor_parallel": 1, "pipeline_parallel": 1, "zero_stage": 3,
        "micro_batch": 8, "accumulation": 2, "recompute_share": 1, "parameter_servers": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "stage"),
    [
        ("fsdp=FULL_SHARD", 3), ("fsdp=SHARD_GRAD_OP", 2), ("fsdp", 3), ("zero=2", 2),
        ("zero=0;act_ckpt=True", 0), ("zero=9", 3), ("fsdp=0;tp=2;pp=1", 1),
        ("fsdp=64;tp=1;pp=1", 3), ("tp=2;pp=4", 1),
    ],
)  # fmt: skip
def test_sharding_as_sources_write_it(text, stage) -> None:
    assert layout(text)["zero_stage"] == stage


def test_asynchronous_workers_step_alone() -> None:
    run = CONVNET | {"parallelism": "async parameter server; workers=4; ps=1",
                     "accelerators": 4.0, "nodes": 4.0, "global_batch": 128.0}  # fmt: skip
    found = resolved(run).iloc[0]
    assert found["parameter_servers"] == 1
    assert found["data_parallel"] == 4
    assert found["micro_batch"] == 128
    assert found["accumulation"] == 1


def test_context_parallelism_deals_the_tokens_of_a_sample() -> None:
    found = layout("tp=2;pp=1;cp=4", global_batch=64.0, micro_batch=2.0)
    # 64 devices: 32 data ranks, eight samples at a time, each on four of them.
    assert found["data_parallel"] == 32
    assert found["micro_batch"] == 0.5
    assert found["accumulation"] == 4


@pytest.mark.parametrize("text", ["", "tp=2;pp=2", "fsdp", "tp=2;cp=2", "dp=64"])
@pytest.mark.parametrize("batch", [64.0, 96.0, 1024.0])
@pytest.mark.parametrize("micro", [np.nan, 1.0, 4.0])
def test_micro_batches_of_all_devices_make_the_batch(text, batch, micro) -> None:
    found = layout(text, global_batch=batch, micro_batch=micro)
    product = found["micro_batch"] * found["accumulation"] * found["data_parallel"]
    assert product == pytest.approx(batch)


def test_a_layout_that_is_not_stated_is_the_smallest_that_fits() -> None:
    # 6 bytes per parameter in half of the memory.
    assert layout("", params=1e9)["tensor_parallel"] == 1
    assert layout("", params=20e9, layers=np.nan, hidden=np.nan)["tensor_parallel"] == 4
    huge = layout("", params=500e9, layers=np.nan, hidden=np.nan)
    assert (huge["tensor_parallel"], huge["pipeline_parallel"]) == (8, 8)
    assert one("tensor_parallel", **CONVNET) == 1


@pytest.mark.parametrize("micro", [0.0, -3.0])
def test_a_micro_batch_that_cannot_be_is_as_one_not_stated(micro) -> None:
    assert layout("dp=64", micro_batch=micro) == layout("dp=64", micro_batch=np.nan)


def test_more_ways_than_devices_are_cut_down() -> None:
    found = layout("tp=99999999999999999999;pp=3")
    assert found["tensor_parallel"] == 64
    assert found["pipeline_parallel"] == found["data_parallel"] == 1


# --- what cannot be used ---------------------------------------------------------------------

BAD = {
    "no accelerators": ({"accelerators": 0.0}, "number of accelerators"),
    "accelerators unknown": ({"accelerators": np.nan}, "number of accelerators"),
    "negative accelerators": ({"accelerators": -4.0}, "number of accelerators"),
    "absurd parameters": (
        {"params": 1e30, "layers": np.nan, "hidden": np.nan}, "parameter count"
    ),
    "infinite parameters": ({"params": np.inf}, "parameter count"),
    "negative parameters": ({"params": -5.0}, "parameter count"),
    "no shape": (
        {"params": np.nan, "layers": np.nan, "hidden": np.nan}, "neither FLOPs nor shape"
    ),
    "no tokens": ({"sample_size": 0.0}, "neither FLOPs nor shape"),
    "unknown accelerator": ({"accelerator": "Foo 9000"}, "accelerator is unknown"),
    "no batch": ({"global_batch": np.nan}, "global batch"),
    "empty batch": ({"global_batch": 0.0}, "global batch"),
    "infinite batch": ({"global_batch": np.inf}, "missing or infinite"),
    "no layers": ({"layers": 0.0}, "layer count"),
    "unknown family": ({"family": "poetry"} | {"forward_flops_per_sample": 1e9}, "missing"),
    "no ways": ({"parallelism": "cp=0"}, "missing or infinite"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_row_says_why_and_never_reaches_the_training(name) -> None:
    change, why = BAD[name]
    profiles = frame({}, change, {})
    runs = resolve_runs(profiles, facts_of(catalog(), profiles["accelerator"]))
    assert why in runs["reason"].iloc[1]
    assert (runs["reason"].iloc[[0, 2]] == "").all()
    table = training_table(profiles, catalog())
    assert table.rows.tolist() == [0, 2]


@pytest.mark.parametrize("step", [0.0, -1.0, np.nan, np.inf, 1e-9, 1e9])
def test_a_step_time_that_cannot_be_never_reaches_the_training(step) -> None:
    table = training_table(frame({"step_time_s": step}, {}), catalog())
    assert table.rows.tolist() == [1]


def test_all_columns_of_usable_rows_are_finite() -> None:
    changes = [change for change, _ in BAD.values()]
    jobs = training_table(frame({}, *changes, CONVNET), catalog()).jobs
    assert len(jobs) == 2
    columns = (getattr(jobs, name) for name in Jobs.__dataclass_fields__)
    assert all(np.isfinite(column).all() for column in columns)


def test_the_table_keeps_the_rows_their_labels_and_their_sources() -> None:
    profiles = frame({"source": "mlperf-v1.0"}, {"accelerator": "Foo"}, {"source": "mlperf-v2.1"})
    table = training_table(profiles, catalog())
    assert table.rows.tolist() == [0, 2]
    assert table.source.tolist() == ["mlperf", "mlperf"]
    assert table.config[0] == "mlperf-v1.0|a decoder|A100-80GB|8.0|bf16"
    assert table.take(np.array([1])).config.tolist() == [table.config[1]]
    assert table.step_s.tolist() == [10.0, 10.0]


def test_no_rows_make_an_empty_table() -> None:
    table = training_table(frame({}).iloc[:0], catalog())
    assert len(table.jobs) == len(table.step_s) == 0


def test_a_store_without_runs_says_so() -> None:
    with Store.open() as store, pytest.raises(PredictionError, match="only 0 usable"):
        Predictor.train(store, catalog(), Basis("facts"))


def test_the_index_of_the_profiles_is_kept() -> None:
    profiles = frame({}, CONVNET)
    profiles.index = pd.Index([7, 3])
    runs = resolve_runs(profiles, facts_of(catalog(), profiles["accelerator"]))
    assert runs.index.tolist() == [7, 3]
    assert runs["family_code"].tolist() == [FAMILY_CODES["language"], FAMILY_CODES["cnn"]]


def test_a_run_is_recognised_by_its_model_however_it_is_named() -> None:
    runs = resolved({"model": "Llama 7B"}, {"model": "llama-7b", "params": 6.75e9}, CONVNET)
    keys = model_keys(Jobs.from_frame(runs))
    assert keys[0] == keys[1] != keys[2]


def test_the_example_is_one_that_the_store_accepts() -> None:
    with Store.open() as store:
        store.add_frame(frame(RUN))
        assert len(training_table(store.profiles(), catalog()).jobs) == 1
