"""Published efforts as jobs: a small table of our own, and the board over it."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from advisor.core.errors import AdvisorError, InvalidInputError
from benchmarks.boards.claim_jobs import NUMBERS, TEXT, ClaimJob, job_of, read_claims, scored
from benchmarks.boards.claim_others import Claims, learned, shift
from benchmarks.boards.claim_steps import steady_state
from benchmarks.boards.claims import (
    from_others,
    organisation_of,
    predict,
    rule_of_thumb_h,
    same_run,
)
from benchmarks.boards.context import Shipped


def claims(*rows: dict[str, object]) -> pd.DataFrame:
    """Return a table of claims as it is read from a file: what a row does not say is empty."""
    empty = dict.fromkeys([*TEXT, *NUMBERS], "")
    text = pd.DataFrame([empty | {"claim_id": f"T{i}"} | row for i, row in enumerate(rows)])
    return read_claims(pd.read_csv(io.StringIO(text.to_csv(index=False))))


SEVEN = {
    "job_name": "Some 7B model, first stage", "task": "pretrain", "params_b": 7, "tokens_b": 1000,
    "seq_len": 4096, "global_batch": 4e6, "global_batch_unit": "tokens", "gpu": "A100-80GB",
    "n_gpus": 256, "gpu_hours": 90_000, "claim_kind": "measured",
    "source": "github:somebody/seven@1:README.md",
}  # fmt: skip


@pytest.fixture(scope="module")
def shipped() -> Shipped:
    return Shipped()


def job(shipped: Shipped, **changes: object) -> ClaimJob:
    return job_of(claims(SEVEN | changes).iloc[0], shipped.catalog)


def test_a_batch_in_tokens_becomes_sequences(shipped: Shipped) -> None:
    workload = job(shipped).workload
    assert workload.global_batch == 1024
    assert workload.tokens == pytest.approx(1e12)
    assert workload.model.params == pytest.approx(7e9, rel=0.01)


def test_a_network_is_found_by_the_name_in_a_title(shipped: Shipped) -> None:
    named = job(shipped, job_name="Cheap reproduction of Llama-2 13B (two weeks)", params_b=13)
    assert named.workload.model.name == "llama-2-13b"


def test_a_name_of_another_size_gives_the_sequence_only(shipped: Shipped) -> None:
    workload = job(shipped, job_name="GPT-3 1.3B again", params_b=1.3, seq_len="").workload
    assert workload.model.tokens_per_sample == 2048
    assert workload.model.params == pytest.approx(1.3e9, rel=0.02)


def test_layers_and_parameters_give_the_width(shipped: Shipped) -> None:
    model = job(shipped, params_b=0.35, layers=24, seq_len=1024).workload.model
    assert (model.layers, model.hidden) == (24, 1024)
    assert model.params == pytest.approx(0.35e9, rel=0.05)


def test_a_depth_alone_names_a_nanochat(shipped: Shipped) -> None:
    model = job(shipped, job_name="nanochat d20 on a node", params_b="").workload.model
    assert (model.layers, model.hidden) == (20, 1280)
    assert model.params == pytest.approx(560_988_160, rel=0.01)


def test_a_mixture_counts_by_its_active_parameters(shipped: Shipped) -> None:
    model = job(shipped, params_b=100, active_params_b=17).workload.model
    assert model.params == pytest.approx(17e9, rel=0.01)
    named = job(shipped, job_name="DeepSeek-V3", params_b=671, active_params_b=37).workload.model
    assert named.params == pytest.approx(37e9, rel=0.05)
    assert named.experts == 0


def test_adapters_and_preferences_and_hand_written_kernels_are_understood(
    shipped: Shipped,
) -> None:
    assert job(shipped, task="lora", parallelism="FSDP + QLoRA 4-bit").workload.tuning == "qlora"
    assert job(shipped, task="lora", parallelism="DDP").workload.tuning == "lora"
    assert job(shipped, task="finetune", dataset="RLHF mix").preferences
    assert job(shipped, framework="llm.c (CUDA)").by_hand
    assert not job(shipped).by_hand


def test_a_figure_made_of_a_step_loses_nothing(shipped: Shipped) -> None:
    assert job(shipped).whole
    assert not job(shipped, claim_kind="projection_from_measured_step").whole


def test_an_accelerator_of_several_memories_is_the_larger_for_language(shipped: Shipped) -> None:
    assert job(shipped, gpu="V100").accelerator.name == "V100-32GB"
    assert job(shipped, gpu="V100 (16GB as stated)").accelerator.name == "V100-16GB"


def test_masking_three_quarters_of_a_picture_spares_most_of_the_work(shipped: Shipped) -> None:
    images = {"task": "vision", "params_b": "", "tokens_b": "", "seq_len": "", "image_size": "224",
              "dataset": "ImageNet-1k", "epochs": 100, "global_batch": ""}  # fmt: skip
    whole = job(shipped, job_name="ViT-L/16 from scratch", **images).workload.model
    masked = job(shipped, job_name="MAE ViT-L/16 pretraining", **images).workload.model
    share = masked.forward_flops_per_sample / whole.forward_flops_per_sample
    assert 0.3 < share < 0.5


@pytest.mark.parametrize(
    "change",
    [
        {"params_b": "", "job_name": "Something"},
        {"tokens_b": "", "epochs": 3, "dataset": "example"},
        {"gpu": "Abacus"},
        {"task": "vision", "job_name": "A detector"},
        {"job_name": "Vision 11B stage 1", "task": "pretrain"},
    ],
)
def test_what_does_not_say_enough_is_refused(shipped: Shipped, change: dict[str, object]) -> None:
    with pytest.raises(AdvisorError):
        job(shipped, **change)


def test_a_file_of_other_columns_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="no column"):
        read_claims(pd.DataFrame({"job_name": ["x"]}))
    frame = claims(SEVEN).astype({"params_b": object})
    frame.loc[0, "params_b"] = "many"
    with pytest.raises(InvalidInputError, match="params_b"):
        read_claims(frame)


def test_estimates_and_flagged_rows_are_not_scored() -> None:
    table = claims(SEVEN, SEVEN | {"claim_kind": "estimate"}, SEVEN | {"flag": "HIGH"})
    assert scored(table).tolist() == [True, False, False]


def test_a_week_of_a_large_cluster_is_predicted_within_its_interval(engine, shipped) -> None:
    steady = steady_state(job(shipped), engine.predictor, shipped.catalog)
    # 6·N·D at 30 to 65 % of the peak.
    ideal = 6 * 7e9 * 1e12 / 312e12 / 3600
    assert ideal / 0.65 < steady.accelerator_hours < ideal / 0.30
    assert steady.log_sigma > 0


def test_unstated_counts_finish_within_two_months(engine, shipped) -> None:
    steady = steady_state(job(shipped, n_gpus=""), engine.predictor, shipped.catalog)
    assert steady.step_s * steady.steps < 75 * 86400
    assert 32 <= steady.accelerators <= 1024


def test_an_uneven_count_shares_the_nearest_batch(engine, shipped) -> None:
    steady = steady_state(job(shipped, n_gpus=48), engine.predictor, shipped.catalog)
    assert steady.step_s > 0


def test_predictions_say_what_was_refused_and_why(engine, shipped) -> None:
    table = claims(SEVEN, SEVEN | {"gpu": "Abacus"})
    found = predict(table, engine.predictor, shipped.catalog)
    assert found.rows.tolist() == [0]
    assert "Abacus" in next(iter(found.refused.values()))
    assert found.rule_h[0] == pytest.approx(6 * 7e9 * 1e12 / (0.4 * 312e12 * 3600))
    assert rule_of_thumb_h(table.iloc[0], job(shipped)) == found.rule_h[0]


def others(errors: list[float], *, hours: float = 1e5) -> Claims:
    """Return claims of as many organisations, all of one size."""
    number = len(errors)
    return Claims(
        hours=np.full(number, hours),
        sigma=np.full(number, 0.3),
        origin=np.array([[f"organisation {i}", f"family {i}"] for i in range(number)]),
        language=np.ones(number, dtype=bool),
        log_error=np.array(errors),
    )


def test_claims_of_others_move_a_prediction_by_their_shrunk_median() -> None:
    assert shift(1e5, others([0.4, 0.4, 0.4, 0.4])) == pytest.approx(0.4 / 2)
    assert shift(1e5, others([0.4, 0.4, 9.0])) == pytest.approx(0.4 * 3 / 7)
    assert shift(1e5, others([])) == 0.0
    # Efforts of another size say less.
    assert 0 < shift(1e1, others([0.4] * 4)) < shift(1e4, others([0.4] * 4)) < 0.2


def test_a_claim_never_learns_from_its_own_organisation_or_family() -> None:
    known = others([0.1, 0.2, -0.1, 0.3])
    wild = replace(known, log_error=known.log_error + np.array([5.0, 0, 0, 0]))
    own = np.array(["organisation 0", "another family"])
    family = np.array(["another organisation", "family 0"])
    for origin in (own, family):
        calm = learned(1e5, 0.3, origin, known, language=True)
        assert learned(1e5, 0.3, origin, wild, language=True) == calm
    stranger = np.array(["nobody", "nothing"])
    wide = learned(1e5, 0.3, stranger, wild, language=True)[1]
    assert wide > learned(1e5, 0.3, stranger, known, language=True)[1]


def test_other_kinds_are_widened_but_not_moved() -> None:
    known = others([1.0, 1.0, 1.0])
    kind = replace(known, language=np.zeros(3, dtype=bool))
    by, sigma = learned(1e5, 0.3, np.array(["nobody", "nothing"]), kind, language=False)
    assert by == 0.0
    assert sigma == pytest.approx(1.0 / 1.645, rel=0.01)
    assert learned(1e5, 0.3, np.array(["nobody", "nothing"]), known, language=False) == (0.0, 0.3)


def test_predictions_are_moved_and_widened_together(engine, shipped) -> None:
    table = claims(SEVEN, SEVEN | {"source": "github:other/x@1", "gpu_hours": 900_000})
    found = predict(table, engine.predictor, shipped.catalog)
    known = replace(found.compared(table), origin=np.array([["a", "b"], ["c", "d"]]))
    hours, sigma = from_others(found, known)
    assert (hours > found.hours).all()
    assert (sigma > 0).all()


def test_a_run_of_the_store_is_recognised_by_network_devices_and_time(shipped: Shipped) -> None:
    table = shipped.shipped
    jobs = table.jobs
    row = np.flatnonzero((jobs.family_code == 0) & (jobs.devices == 8))[0]
    run = table.take(np.array([row]))
    seven = job(shipped, n_gpus=8)
    described = seven.workload.model.model_copy(
        update={"params": float(jobs.params[row]), "tokens_per_sample": int(
            jobs.tokens_per_sample[row])}
    )  # fmt: skip
    device = seven.accelerator.model_copy(
        update={"memory_bytes": float(jobs.memory_bytes[row]),
                "memory_bytes_per_s": float(jobs.memory_bytes_per_s[row])}
    )  # fmt: skip
    claim = ClaimJob(
        workload=seven.workload.model_copy(update={"model": described}),
        accelerator=device,
        accelerators=8,
        by_hand=False,
        whole=True,
        preferences=False,
    )
    steps = claim.workload.samples / float(jobs.global_batch[row])
    hours = float(run.step_s[0]) * steps * 8 / 3600
    assert same_run(pd.Series({"gpu_hours": hours}), claim, run).all()
    assert not same_run(pd.Series({"gpu_hours": 2 * hours}), claim, run).any()


def test_an_organisation_is_the_owner_of_a_repository() -> None:
    assert organisation_of("read in: x; github:Someone/thing@1:a.md") == "someone"
    assert organisation_of("https://example.org/paper") == "https://example.org/paper"
