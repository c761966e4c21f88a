"""The commands: what they answer, in words and as JSON."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest
from command_line import (  # noqa: F401 - fixtures
    advisor_fixture,
    run_fixture,
)

from advisor import catalog as catalogs
from advisor import zoo
from advisor.advice import Engine, advise
from advisor.advice.forecast import forecast_on_machines
from advisor.cli import tables
from advisor.domain import Advice, Forecast
from advisor.search.constraints import Constraints

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from command_line import Ran

JOB = ("--model", "llama-2-7b", "--tokens", "10e9", "--seq-len", "4096", "--global-batch", "1024")
KEYS = {"picks", "pareto", "candidates_considered", "removed_by", "workload", "catalog",
        "predictor", "current", "probes", "limits", "options", "runners_up"}  # fmt: skip
CONFIG = """{"model_type": "llama", "hidden_size": 2048, "intermediate_size": 5632,
"num_hidden_layers": 22, "num_attention_heads": 32, "num_key_value_heads": 4, "vocab_size": 32000,
"max_position_embeddings": 2048, "tie_word_embeddings": false}"""


def test_advise_as_json_has_exactly_the_agreed_keys(advisor: Callable[..., Ran]) -> None:
    ran = advisor("advise", *JOB, "--deadline-h", "72", "--json")
    assert (ran.code, ran.err) == (0, "")
    answer = ran.json
    assert set(answer) == KEYS
    assert answer["current"] is None
    assert set(answer["picks"]) == {"cheapest", "fastest", "best_value", "safest"}
    assert isinstance(answer["candidates_considered"], int)
    for pick in answer["picks"].values():
        plan = pick["plan"]
        assert pick["reason"]
        assert plan["deadline_probability"] >= 0.8
        assert plan["offer"]["source"]
        assert plan["offer"]["as_of"] is None or plan["offer"]["as_of"].startswith("20")
        for estimate in (plan["hours"], plan["cost_usd"]):
            assert 0 < estimate["low"] < estimate["value"] < estimate["high"]
            assert estimate["level"] == 0.9
        assert plan["hours"]["value"] <= 72
    assert answer["probes"]["plans"] > 1
    assert answer["probes"]["probes"][0]["runs"][0]["cost_usd"] > 0
    assert Advice.make(**answer).to_json()


def test_advise_is_the_same_byte_for_byte(advisor: Callable[..., Ran]) -> None:
    first, second = (advisor("advise", *JOB, "--json").out for _ in range(2))
    assert first == second


def test_advise_in_words_has_picks_reasons_dates_and_the_account(
    advisor: Callable[..., Ran],
) -> None:
    said = advisor("advise", *JOB, "--deadline-h", "72").out
    for word in ("Cheapest", "Fastest", "Best value", "Safest", "Lowest bill of", "price dated",
                 "candidates; removed by memory", "deadline", "Newest price in the catalog: 20",
                 "taxes"):  # fmt: skip
        assert word in said
    assert "in 72\u00a0h" in said
    assert "nterruptions" in said
    assert "[bold]" not in said


def test_limits_of_all_kinds_hold(advisor: Callable[..., Ran]) -> None:
    answer = advisor(
        "advise", *JOB, "--cloud", "aws,gcp", "--region", "US", "--region", "eu-west-1", "--gpu",
        "hopper", "--gpu", "A100-80GB", "--market", "on-demand", "--max-machines", "4",
        "--max-accelerators", "32", "--budget-usd", "20k", "--json",
    ).json  # fmt: skip
    plans = [pick["plan"] for pick in answer["picks"].values()] + answer["pareto"]
    for plan in plans:
        (group,) = plan["cluster"]["groups"]
        assert group["cloud"] in {"aws", "gcp"}
        assert group["accelerator"] in {"H100", "H200", "A100-80GB", "GH200", "H100-NVL"}
        assert group["region"].startswith("us-") or group["region"] == "eu-west-1"
        assert group["count"] <= 4
        assert group["count"] * group["accelerators_per_node"] <= 32
        assert plan["offer"]["market"] == "on_demand"
        assert plan["cost_usd"]["value"] <= 20_000


def test_savings_against_today_are_stated(advisor: Callable[..., Ran]) -> None:
    options = ("advise", *JOB, "--current", "4 x p4d.24xlarge", "--retry-allowance", "0.2")
    answer = advisor(*options, "--json").json
    today, cheapest = answer["current"], answer["picks"]["cheapest"]
    saving = today["cost_usd"]["value"] - cheapest["plan"]["cost_usd"]["value"]
    assert cheapest["saving_usd"] == pytest.approx(saving)
    assert today["bill"]["retries_usd"] == pytest.approx(
        0.2 * today["bill"]["machines_usd"], abs=0.01
    )
    said = advisor(*options).out
    assert "Today" in said
    assert "4 × p4d.24xlarge" in said
    assert "Against today: $" in said


def test_a_data_set_elsewhere_is_in_the_bill_to_the_cent(advisor: Callable[..., Ran]) -> None:
    options = ("advise", *JOB, "--cloud", "aws", "--region", "us-west-2", "--data-gb", "2,000",
               "--data-at", "gcp:us-central1", "--transfer-price", "0.05")  # fmt: skip
    bill = advisor(*options, "--json").json["picks"]["cheapest"]["plan"]["bill"]
    assert bill["data_stated"] is True
    # 2,000 GB to the machines, and 6.74 B parameters of two bytes back
    assert bill["traffic_usd"] == round(0.05 * (2000 + 2 * 6.738415616), 2)
    assert bill["data_storage_usd"] > 0
    said = advisor(*options).out
    assert "Not contained in every bill: taxes." in said
    assert "the data set (none stated)" in advisor("advise", *JOB).out


def test_the_front_is_written_as_a_table(advisor: Callable[..., Ran], tmp_path: Path) -> None:
    path = tmp_path / "front.csv"
    path.write_text("an older table")
    ran = advisor("advise", *JOB, "--csv", str(path), "--json")
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    ids = {row["plan_id"] for row in rows}
    assert len(rows) >= len(ran.json["pareto"])
    assert len(ids) == len(rows)
    assert [entry.name for entry in tmp_path.iterdir()] == ["front.csv"]


@pytest.mark.parametrize(
    "hardware", [("--machines", "4 x p4d.24xlarge"), ("--gpu", "A100-40GB", "--accelerators", "32")]
)
def test_predict_takes_machines_or_accelerators(
    hardware: tuple[str, ...], advisor: Callable[..., Ran]
) -> None:
    answer = advisor("predict", *JOB, *hardware, "--json").json
    forecast = Forecast.make(**answer)
    assert forecast.accelerators == 32
    assert forecast.machines == 4
    assert forecast.hours.low < forecast.hours.value < forecast.hours.high
    said = advisor("predict", *JOB, *hardware).out
    for word in ("32 × A100-40GB", "step, s", "training, h", "accelerator-hours", "90 % interval",
                 "out of memory", "MFU", "prediction: "):  # fmt: skip
        assert word in said
    assert ("assumed: machines of 8" in said) == ("--gpu" in hardware)


def test_catalog_lists_prices_with_source_and_date(run: Callable[..., Ran]) -> None:
    offers = run("catalog", "--json").json
    assert len(offers) == len(catalogs.load().offers)
    prices = [offer["usd_per_accelerator_h"] for offer in offers]
    assert prices == sorted(prices)
    for offer in offers:
        assert offer["source"]
        assert offer["as_of"] is None or len(offer["as_of"]) == 10
        assert offer["market"] in {"on_demand", "spot", "reserved_1y", "reserved_3y"}
    assert any(offer["market"] == "reserved_3y" for offer in offers)


def test_catalog_can_be_narrowed(run: Callable[..., Ran]) -> None:
    options = ("catalog", "--cloud", "AWS", "--region", "us-east-1", "--gpu", "H100", "--market",
               "spot,on-demand")  # fmt: skip
    offers = run(*options, "--json").json
    assert offers
    assert {offer["cloud"] for offer in offers} == {"aws"}
    assert {offer["accelerator"] for offer in offers} == {"H100"}
    said = run(*options, "--limit", "1").out
    assert f"1 of {len(offers):,} prices" in said
    assert "on-demand" in said or "spot" in said


def test_a_configuration_file_is_a_model(advisor: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(CONFIG)
    for model in (str(tmp_path), str(tmp_path / "config.json"), CONFIG):
        answer = advisor(
            "predict", "--model", model, "--steps", "10", "--machines", "1 x p4d.24xlarge", "--json"
        ).json
        assert answer["steps"] == 10


@pytest.mark.parametrize("name", ["[bold]big[/bold]", "[/bold]", "[red", "\\\\[x]"])
def test_a_name_cannot_write_markup(
    name: str, engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    workload = zoo.build_workload(zoo.resolve("resnet-50"), steps=1)
    model = workload.model.model_copy(update={"name": name})
    changed = workload.model_copy(update={"model": model, "assumptions": (name,)})
    limits = Constraints(deadline_h=100.0)
    advice = advise(changed, engine, limits=limits)
    pick = advice.picks["cheapest"].model_copy(update={"reason": name})
    tables.show_advice(advice.model_copy(update={"picks": {"cheapest": pick}}), limits)
    forecast = forecast_on_machines("1 x p3.16xlarge", changed, engine)
    tables.show_forecast(forecast.model_copy(update={"assumptions": (name,)}), changed)
    assert capsys.readouterr().out.count(name) == 6


def test_help_and_version_are_no_errors(run: Callable[..., Ran]) -> None:
    for arguments in (["--help"], ["--version"], ["advise", "--help"], ["serve", "--help"]):
        with pytest.raises(SystemExit) as caught:
            run(*arguments)
        assert caught.value.code == 0


def test_an_interrupted_command_ends_quietly(
    advisor: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("advisor.advice.question.advise", stop)
    ran = advisor("advise", *JOB)
    assert (ran.code, ran.out, ran.err) == (130, "", "")


def test_a_full_disk_keeps_the_older_table(
    advisor: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "front.csv"
    path.write_text("an older table")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    ran = advisor("advise", *JOB, "--csv", str(path))
    assert ran.code == 2
    assert "No space left on device" in ran.err
    assert path.read_text() == "an older table"
    assert list(tmp_path.iterdir()) == [path]


def test_errors_of_a_programmer_are_not_hidden(
    advisor: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("advisor.advice.question.advise", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        advisor("advise", *JOB)


def test_a_pick_is_explained_by_its_parts_and_the_nearest_runs(
    advisor: Callable[..., Ran], engine_data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(engine_data_dir))
    ran = advisor("advise", *JOB, "--explain", "--json")
    explained = ran.json["explanations"]["cheapest"]
    step = ran.json["picks"]["cheapest"]["plan"]["step_time_s"]["value"]
    assert explained["step_s"] == pytest.approx(step)
    assert explained["nearest"][0]["distance"] == explained["distance"]
    choice = ran.json["choices"]["cheapest"]
    assert (
        choice["chosen"]["cost_usd"] == ran.json["picks"]["cheapest"]["plan"]["cost_usd"]["value"]
    )
    assert choice["rival"]["cost_usd"] > choice["chosen"]["cost_usd"]
    assert set(ran.json["choices"]) == {"cheapest"}
    words = advisor("predict", *JOB, "--machines", "4 x p4d.24xlarge", "--explain").out
    assert "Physics alone says" in words
    assert "The nearest measured run is" in words
    assert "nearest measured run" in words


def test_why_a_pick_won_is_said_with_what_would_flip_it(
    advisor: Callable[..., Ran], engine_data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(engine_data_dir))
    options = ("--deadline-h", "72", "--max-machines", "8", "--explain", "fastest")
    said = advisor("advise", *JOB, *options).out
    for word in ("Fastest, why: ", "Without the limit on ", "Price below $", "efficiency +",
                 "its 80 % range", "step time", "out of memory", "expected loss of taking it",
                 "The robust choice is "):  # fmt: skip
        assert word in said


def test_a_refit_without_own_runs_has_nothing_to_learn(
    advisor: Callable[..., Ran], engine_data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(engine_data_dir))
    assert advisor("refit", "--json").json is None
    assert "There is nothing to learn" in advisor("refit").out
