"""What users of other planners asked for about the bill: hidden costs and currencies."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from streamlit.testing.v1 import AppTest

from advisor import api
from advisor import catalog as catalogs
from advisor.advice.currency import currency_named
from advisor.catalog.own import MACHINES, RATES, known, parse, template
from advisor.cli import commands, main
from advisor.testing.own_lists import write
from advisor.ui.state import DEFAULT_JOB

if TYPE_CHECKING:
    from advisor.advice import Engine

JOB: dict[str, Any] = {"tokens": "1 B", "global_batch": 256, "max_accelerators": 32}
APP = Path(__file__).resolve().parents[2] / "app.py"
RATE = "currency,usd,as_of\nEUR,1.25,2026-07-01\nJPY,0.0064,2026-07-01\n"
TERABYTES_5 = {"data_gb": 5000, "data_at": "aws:us-east-1"}


def test_traffic_is_paid_once_however_many_machines_train(engine: Engine) -> None:
    """No. 70: moving data is in the bill, of several machines too."""
    advice = api.advise("llama-2-7b", **JOB, **TERABYTES_5, engine=engine, clouds="aws",
                        regions="us-west-2")  # fmt: skip
    plans = [pick.plan for pick in advice.picks.values()] + list(advice.pareto)
    assert len({plan.cluster.machines for plan in plans}) > 1
    (traffic,) = {plan.bill.traffic_usd for plan in plans}
    # 5,000 GB there and 13.48 GB of weights (6.74 B parameters in 2 bytes) back, at 0.02 USD
    assert traffic == pytest.approx(0.02 * (5000 + 13.48), abs=0.01)
    for plan in plans:
        assert plan.bill.total_usd >= plan.bill.machines_usd + traffic


def test_of_several_regions_only_those_outside_the_datas_own_pay_traffic(engine: Engine) -> None:
    """No. 72: a list of regions, to stay where moving data is cheap."""
    regions = ["us-east-1", "us-west-2"]
    advice = api.advise("llama-2-7b", **JOB, **TERABYTES_5, engine=engine, clouds="aws",
                        regions=regions)  # fmt: skip
    plans = [pick.plan for pick in advice.picks.values()] + list(advice.pareto)
    assert {plan.offer.region for plan in plans} <= set(regions)
    assert any(plan.offer.region == "us-east-1" for plan in plans)
    for plan in plans:
        paid = plan.bill.traffic_usd
        assert paid is not None
        assert (paid == 0) == (plan.offer.region == "us-east-1")


def test_a_bill_that_was_told_of_no_data_says_that_it_is_without_them(engine: Engine) -> None:
    """No. 73: no surprise bill between regions: what is not contained is said."""
    advice = api.advise("llama-2-7b", **JOB, engine=engine, clouds="aws")
    stated = api.advise("llama-2-7b", **JOB, **TERABYTES_5, engine=engine, clouds="aws")
    for pick in advice.picks.values():
        assert "the data set (none stated)" in pick.plan.bill.left_out
    for pick in stated.picks.values():
        bill = pick.plan.bill
        assert not any("data set" in part for part in bill.left_out)
        assert {"traffic_usd", "data_storage_usd"} < set(bill.parts_usd)


@pytest.fixture(name="european")
def european_fixture(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """The engine with the user's rates, opened by the command line too."""
    write(RATES, RATE)
    own = dataclasses.replace(engine, catalog=catalogs.load())

    class Opened:
        @staticmethod
        def open(_: object = None) -> Engine:
            return own

    monkeypatch.setattr(commands, "Engine", Opened)
    return own


def test_costs_are_said_in_the_users_currency_with_its_rate_and_day(
    european: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    """No. 75: costs in another currency than USD."""
    words = ["--model", "llama-2-7b", "--tokens", "1B", "--global-batch", "256",
             "--max-accelerators", "32"]  # fmt: skip
    assert main(["advise", *words, "--currency", "eur", "--budget", "400"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "your rate: 1 EUR = USD 1.25, 2026-07-01" in said
    advice = api.advise("llama-2-7b", **JOB, engine=european, currency="EUR", budget=400)
    for title, name in (("cheapest", "cheapest"), ("best value", "best_value")):
        amount = re.search(rf"In EUR:.*?\b{title} EUR ([\d.,]+)\b", said)
        assert amount is not None
        cost_usd = advice.picks[name].plan.cost_usd.value
        assert float(amount[1].replace(",", "")) == pytest.approx(cost_usd / 1.25, rel=0.01)


def test_a_budget_in_a_currency_admits_what_the_same_budget_in_usd_admits(
    european: Engine,
) -> None:
    """No. 76: money in other currencies, limits too."""
    yen = currency_named("jpy", european.catalog)
    assert yen is not None
    assert yen.usd(10_000) == pytest.approx(64.0)
    asked = {"engine": european, "clouds": "aws", "markets": "on-demand"}
    in_yen = api.advise("llama-2-7b", **JOB, **asked, currency="JPY", budget=40_000)
    in_usd = api.advise("llama-2-7b", **JOB, **asked, budget_usd=256)
    assert in_yen.picks["fastest"].plan == in_usd.picks["fastest"].plan
    with pytest.raises(api.NoFeasiblePlanError, match="budget"):
        api.advise("llama-2-7b", **JOB, **asked, currency="JPY", budget=256)


@pytest.mark.usefixtures("engine_copy")
def test_the_page_says_the_costs_of_all_picks_in_the_chosen_currency() -> None:
    """No. 76: amounts on the page in other currencies than USD."""
    write(RATES, RATE)
    page = AppTest.from_file(str(APP), default_timeout=90)
    page.query_params["job"] = DEFAULT_JOB
    page.query_params["currency"] = "JPY"
    page.run()
    assert not page.exception
    (said,) = (one.value for one in page.markdown if "your rate" in one.value)
    assert "1 JPY = USD 0.0064, 2026-07-01" in said
    picks = re.findall(r"([A-Z][a-z ]+) \*\*JPY\s\d", said)
    assert picks == ["Cheapest", "Fastest", "Best value", "Safest"]


@pytest.mark.parametrize("price", ["€9.50", "9.50 EUR", "¥31"])
def test_a_price_in_another_currency_is_never_read_as_usd(price: str) -> None:
    """No. 77: catalogs of prices in other currencies: each says USD, or is refused."""
    header, row = template(MACHINES).splitlines()[:2]
    cells = dict(zip(header.split(","), row.split(","), strict=True)) | {"usd_per_h": price}
    parsed = parse(f"{header}\n{','.join(cells.values())}\n".encode(), MACHINES, known())
    (problem,) = parsed.problems
    assert "usd_per_h" in str(problem)
    assert price in str(problem)
