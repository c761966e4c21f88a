"""The job as one line, there and back."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor import zoo
from advisor.advice.job import AMOUNTS, Job
from advisor.advice.job_line import StatedJob, parse_job
from advisor.core.errors import InvalidInputError

CONFIG = json.dumps(
    {
        "model_type": "llama", "hidden_size": 2048, "intermediate_size": 5632,
        "num_hidden_layers": 22, "num_attention_heads": 32, "num_key_value_heads": 4,
        "vocab_size": 32000, "max_position_embeddings": 2048, "tie_word_embeddings": False,
    }
)  # fmt: skip

whole = st.integers(1, 10**9)
counts = whole.map(float) | st.floats(1e-6, 1e21)
job_nouns = st.builds(
    Job,
    model=st.sampled_from([*zoo.names(), "meta-llama/Llama-2-7b-hf", "7B", CONFIG]),
    amount=st.none() | counts,
    unit=st.sampled_from(AMOUNTS),
    dataset_samples=st.none() | counts,
    sample_size=st.none() | whole,
    global_batch=st.none() | whole,
    precision=st.sampled_from(["bf16", "fp32", "fp16", "tf32", "fp8"]),
    tuning=st.sampled_from(["pretrain", "full", "lora", "qlora"]),
    lora_rank=st.integers(1, 1024),
)


@given(job_nouns)
def test_a_line_reads_back_as_the_same_job(job: Job) -> None:
    read = parse_job(job.line())
    unit = job.unit if job.amount is not None else "tokens"
    assert read == StatedJob(replace(job, unit=unit))


@given(job_nouns)
def test_a_line_is_written_once_and_for_all(job: Job) -> None:
    assert parse_job(job.line()).job.line() == job.line()


def test_the_example_of_the_page_is_understood() -> None:
    text = "Llama-2-7B · 10 B tokens · sequence 4,096 · batch 1,024 · finish within 36 h"
    assert parse_job(text) == StatedJob(
        Job(model="Llama-2-7B", amount=10e9, sample_size=4096, global_batch=1024), deadline_h=36
    )
    line = parse_job(text).job.line().replace("\u00a0", " ")
    assert f"{line} · finish within 36 h" == text.replace("10 B", "10.0 B")


@pytest.mark.parametrize(
    ("part", "field", "value"),
    [
        ("10 B tokens", "amount", 10e9), ("1 epoch", "amount", 1.0),
        ("90 epochs", "unit", "epochs"),
        ("1,000 steps", "unit", "steps"), ("1e6 samples", "unit", "samples"),
        ("seq len 2048", "sample_size", 2048), ("seq-length 2048", "sample_size", 2048),
        ("sequence length 2048", "sample_size", 2048), ("resolution 224", "sample_size", 224),
        ("image 224", "sample_size", 224), ("global batch 64", "global_batch", 64),
        ("batch size 64", "global_batch", 64), ("Batch 1k", "global_batch", 1000),
        ("dataset 50,000 samples", "dataset_samples", 5e4),
        ("data set of 3 M", "dataset_samples", 3e6),
        ("LoRA", "tuning", "lora"), ("QLoRA", "tuning", "qlora"), ("fine-tune", "tuning", "full"),
        ("full fine-tuning", "tuning", "full"), ("pre-training", "tuning", "pretrain"),
        ("FP8", "precision", "fp8"), ("rank 32", "lora_rank", 32), ("LoRA rank 8", "lora_rank", 8),
    ],
)  # fmt: skip
def test_parts_are_written_in_many_ways(part: str, field: str, value: object) -> None:
    assert getattr(parse_job(f"llama-2-7b, {part}").job, field) == value


@pytest.mark.parametrize(
    ("part", "hours"),
    [("within 36 h", 36), ("finish within 36 hours", 36), ("within 3 days", 72), ("within 1 d", 24),
     ("within 0.5 h", 0.5)],
)  # fmt: skip
def test_a_deadline_may_stand_in_the_line(part: str, hours: float) -> None:
    assert parse_job(f"llama-2-7b · {part}").deadline_h == hours


@pytest.mark.parametrize(
    "part",
    ["budget $5,000", "at most 5000 USD", "under 5k", "budget USD 5,000", "under 5 k usd",
     "at most $5000"],
)  # fmt: skip
def test_a_budget_may_stand_in_the_line(part: str) -> None:
    assert parse_job(f"llama-2-7b · {part}").budget_usd == 5000


@pytest.mark.parametrize("separator", [" · ", "; ", ", ", "·", ";"])
def test_separators_are_a_dot_a_semicolon_or_a_comma(separator: str) -> None:
    text = separator.join(["llama-2-7b", "10 B tokens", "batch 1,024"])
    assert parse_job(text).job == Job(model="llama-2-7b", amount=10e9, global_batch=1024)


def test_order_does_not_matter_after_the_model() -> None:
    parts = ["10 B tokens", "batch 64", "lora", "fp16", "within 3 h"]
    forwards = parse_job(" · ".join(["gpt2", *parts]))
    assert forwards == parse_job(" · ".join(["gpt2", *reversed(parts)]))


@pytest.mark.parametrize(
    ("part", "quoted"),
    [
        ("fast please", "fast please"), ("10 tokens a day", "10 tokens a day"),
        ("ten tokens", "ten"), ("batch nought", "nought"), ("batch 10.5", "batch 10.5"),
        ("sequence 1e-3", "sequence 1e-3"), ("within soon", "within soon"),
        ("1,5 B tokens", "1,5 B"), ("sequence", "sequence"), ("rank x", "x"),
    ],
)  # fmt: skip
def test_a_part_that_is_not_understood_is_quoted(part: str, quoted: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_job(f"llama-2-7b · {part} · batch 64")
    assert f"“{quoted}”" in str(caught.value)


@pytest.mark.parametrize(
    ("first", "second"),
    [("10 B tokens", "3 epochs"), ("batch 64", "batch 128"), ("within 3 h", "within 4 h"),
     ("lora", "qlora"), ("fp16", "fp32"), ("budget $5", "under 6"), ("lora", "pretrain"),
     ("bf16", "fp16"), ("pretrain", "lora"), ("lora · rank 16", "rank 32"),
     ("100 tokens", "100 steps"), ("3 epochs · 50k samples", "dataset 60k samples")],
)  # fmt: skip
def test_a_part_that_contradicts_another_is_quoted(first: str, second: str) -> None:
    with pytest.raises(InvalidInputError, match="contradicts") as caught:
        parse_job(f"llama-2-7b · {first} · {second}")
    assert f"“{second}”" in str(caught.value)
    assert parse_job(f"llama-2-7b · {first} · {first}") == parse_job(f"llama-2-7b · {first}")


@pytest.mark.parametrize("text", ["", "   ", " · ", ";;", ", "])
def test_an_empty_line_asks_for_a_job(text: str) -> None:
    with pytest.raises(InvalidInputError, match="empty"):
        parse_job(text)


def test_a_configuration_may_be_pasted_with_the_rest_behind_it() -> None:
    stated = parse_job(f"{CONFIG} · 10 B tokens · batch 64 · within 5 h")
    assert stated.job.model == CONFIG
    assert (stated.job.amount, stated.job.global_batch, stated.deadline_h) == (10e9, 64, 5)
    assert stated.job.workload().model.layers == 22


@pytest.mark.parametrize("text", ['{"model_type": ', "{" * 50_000, "{} · 1 epoch"])
def test_a_broken_configuration_is_refused_by_who_reads_it(text: str) -> None:
    with pytest.raises(InvalidInputError):
        parse_job(text).job.workload()


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    with suppress(InvalidInputError):
        assert parse_job(text).job.model


@pytest.mark.parametrize(
    ("job", "said"),
    [
        (Job(model="lama-2-7b", amount=1), "llama-2-7b"),
        (Job(model="llama-2-7b"), "exactly one of"),
        (Job(model="llama-2-7b", amount=-1e9), "tokens"),
        (Job(model="llama-2-7b", amount=10.5, unit="steps"), "steps"),
        (Job(model="llama-2-7b", amount=1, unit="parsecs"), "parsecs"),
        (Job(model="llama-2-7b", amount=1, global_batch=0), "global_batch"),
        (Job(model="resnet-50", amount=1, unit="tokens"), "tokens"),
        (Job(model="llama-2-7b", amount=1, precision="int8"), "int8"),
        (Job(model="llama-2-7b", amount=1, tuning="lora", lora_rank=10**6), "lora_rank"),
    ],
)  # fmt: skip
def test_a_job_that_cannot_be_done_says_why(job: Job, said: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        job.workload()
    assert said in str(caught.value)


def test_the_line_speaks_of_sequences_or_of_images() -> None:
    assert "sequence 512" in Job(model="bert-large", unit="steps", sample_size=512).line()
    assert "resolution 224" in Job(model="resnet-50", unit="epochs", sample_size=224).line()


@pytest.mark.parametrize(
    ("text", "line", "deadline_h", "budget_usd"),
    [
        ("train gpt2 on 300 billion tokens in 3 days", "gpt2 · 300 B tokens", 72.0, None),
        ("finetune llama-3-8b on 50k samples for 3 epochs",
         "llama-3-8b · full fine-tune · 3 epochs · dataset 50,000 samples", None, None),
        ("I want to fine-tune Llama-3-70B with qlora on 1B tokens, seq 4096, for $500",
         "Llama-3-70B · qlora · 1.00 B tokens · sequence 4,096", None, 500.0),
        ("Qwen2.5-7B qlora 1000 steps bs 8 seq_len=2048",
         "Qwen2.5-7B · qlora · 1,000 steps · sequence 2,048 · batch 8", None, None),
        ("ResNet-50 90 epochs imagenet within 48hrs",
         "ResNet-50 · 90 epochs · dataset 1,281,167 samples", 48.0, None),
        ("llama 2 7b, 10B tokens, finish within 2 weeks, at most 2 k dollars",
         "llama 2 7b · 10.0 B tokens", 336.0, 2000.0),
        ("300 tokens of llama-2-7b", "llama-2-7b · 300 tokens", None, None),
        ("BERT-large; 20k iterations; 30 min deadline 12 hours", None, 12.0, None),
    ],
)  # fmt: skip
def test_a_job_in_free_words_is_taken_apart(
    text: str, line: str | None, deadline_h: float | None, budget_usd: float | None
) -> None:
    if line is None:
        with pytest.raises(InvalidInputError, match="30 min deadline"):
            parse_job(text)
        return
    stated = parse_job(text)
    assert stated.job.line().replace("\xa0", " ") == line
    assert (stated.deadline_h, stated.budget_usd) == (deadline_h, budget_usd)
    stated.job.workload()


@pytest.mark.parametrize("text", ["10 B tokens, batch 8", "train the model", "in 3 days"])
def test_a_job_without_a_model_says_so(text: str) -> None:
    with pytest.raises(InvalidInputError, match="names no model"):
        parse_job(text)


def test_a_model_of_the_zoo_is_never_taken_apart() -> None:
    for name in zoo.names():
        assert parse_job(f"{name} · 1 epoch").job.model == name


@pytest.mark.parametrize(
    "piece", ["1,", "1 ", "batch" + 50 * " ", "under ", "1e", "in 1", "1._", "a "]
)
def test_no_text_takes_long(piece: str) -> None:
    begin = time.perf_counter()
    with suppress(InvalidInputError):
        parse_job((20_000 // len(piece)) * piece)
    assert time.perf_counter() - begin < 2


def test_samples_and_epochs_may_stand_in_either_order() -> None:
    one = parse_job("gpt2 · 50k samples · 3 epochs")
    other = parse_job("gpt2 · 3 epochs · 50k samples")
    assert one == other
    assert (one.job.unit, one.job.amount, one.job.dataset_samples) == ("epochs", 3.0, 50_000.0)
