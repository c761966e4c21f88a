"""Why a plan won: every number is found again by changing what it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from advisor import zoo
from advisor.advice.advise import select
from advisor.advice.bill_draws import BillDraws, bill_draws
from advisor.advice.choice import bindings, choice_of, option_of, rival_row
from advisor.advice.flips import flips, signed_percent
from advisor.advice.tornado import break_evens, ranges, swings
from advisor.advice.what_if import Changed, bills, factor_for
from advisor.search.constraints import Constraints
from advisor.search.search import Evaluated, SearchOptions, evaluate

if TYPE_CHECKING:
    from advisor.advice import Engine
    from advisor.domain import Choice

LIMITS = Constraints(deadline_h=72.0, most_machines=16)
SPOT = Constraints(clouds=frozenset({"aws"}), markets=frozenset({"spot"}))
COSTS = arrays(float, st.tuples(st.integers(2, 6), st.integers(1, 20)), elements=st.floats(1, 1e6))


@pytest.fixture(name="table", scope="module")
def table_fixture(engine: Engine) -> Evaluated:
    workload = zoo.build_workload(
        zoo.resolve("llama-2-7b"), tokens=10e9, sample_size=4096, global_batch=1024
    )
    return evaluate(workload, engine.catalog, engine.predictor, SearchOptions())


def chosen(table: Evaluated, limits: Constraints = LIMITS, pick: str = "cheapest") -> int:
    return select(table, limits).picks[pick]


def bill(table: Evaluated, row: int, changed: Changed) -> float:
    return float(bills(table, np.array([row]), changed).ravel()[0])


@pytest.fixture(name="choice", scope="module")
def choice_fixture(table: Evaluated, engine: Engine) -> Choice:
    result = select(table, LIMITS)
    return choice_of(table, result.rows, result.picks["cheapest"], LIMITS, engine)


@given(COSTS)
def test_chances_of_drawn_bills_are_chances(costs: np.ndarray) -> None:
    draws = BillDraws(costs)
    assert draws.cheapest.sum() == pytest.approx(1)
    for one in range(len(costs)):
        assert draws.beats(one)[one] == pytest.approx(0.5)
        for other in range(len(costs)):
            assert draws.beats(one)[other] + draws.beats(other)[one] == pytest.approx(1)


@given(COSTS)
def test_the_least_regret_is_that_of_the_least_expected_bill(costs: np.ndarray) -> None:
    regret = BillDraws(costs).regret_usd
    assert (regret >= 0).all()
    expected = costs.mean(axis=1)
    assert expected[np.argmin(regret)] == pytest.approx(expected.min())
    assert regret.min() <= costs.max() - costs.min()


def test_a_bill_as_predicted_is_the_one_of_the_table(table: Evaluated) -> None:
    rows = select(table, Constraints()).rows[::500]
    found = bills(table, rows, Changed())
    assert found.shape == (len(rows), 1)
    assert found[:, 0] == pytest.approx(table.plans["cost_usd"].to_numpy()[rows])


@given(st.sampled_from(["price", "step", "startup"]), st.floats(0.2, 5), st.floats(1, 3))
def test_a_bill_never_falls_as_an_assumption_grows(
    table: Evaluated, what: str, factor: float, more: float
) -> None:
    row = chosen(table)
    low, high = (bill(table, row, Changed(**{what: by})) for by in (factor, factor * more))
    assert low <= high * (1 + 1e-12)


@pytest.mark.parametrize("what", ["price", "step"])
def test_at_the_factor_that_is_found_the_bill_is_the_one_asked_for(
    table: Evaluated, what: str
) -> None:
    row = chosen(table)
    target = 1.3 * float(table.plans["cost_usd"].iloc[row])
    factor = factor_for(table, row, lambda by: Changed(**{what: by}), target)
    assert factor is not None
    assert bill(table, row, Changed(**{what: factor})) == pytest.approx(target, rel=1e-4)
    assert factor_for(table, row, lambda by: Changed(startup=by), 1e-3) is None


def test_flips_say_how_far_they_are(table: Evaluated) -> None:
    result = select(table, LIMITS)
    row = result.picks["cheapest"]
    found = {f.change.split(" ")[0] + f.change.split(" ")[1]: f
             for f in flips(table, result.rows, row, LIMITS)}  # fmt: skip
    price, step = found["Priceabove"], found["Stepabove"]
    assert price.row is not None
    assert step.row is not None
    factor = factor_for(table, row, lambda by: Changed(price=by),
                        float(table.plans["cost_usd"].iloc[price.row]))  # fmt: skip
    assert factor is not None
    assert price.by == signed_percent(factor - 1)
    assert "efficiency −" in step.by
    for what, flip in (("price", price), ("step", step)):
        limit = factor_for(table, row, lambda by, what=what: Changed(**{what: by}),
                           float(table.plans["cost_usd"].iloc[flip.row]))  # fmt: skip
        rival = float(table.plans["cost_usd"].iloc[flip.row])
        assert bill(table, row, Changed(**{what: limit * 0.995})) < rival
        assert bill(table, row, Changed(**{what: limit * 1.005})) > rival


def test_a_later_deadline_flips_to_a_cheaper_plan_that_then_meets_it(table: Evaluated) -> None:
    limits = Constraints(deadline_h=30.0)
    result = select(table, limits)
    row = result.picks["cheapest"]
    later = [
        f for f in flips(table, result.rows, row, limits) if f.change.startswith("Deadline ab")
    ]
    assert len(later) == 1
    assert later[0].by.startswith("+")
    assert table.plans["cost_usd"].iloc[later[0].row] < table.plans["cost_usd"].iloc[row]
    assert later[0].row not in set(result.rows.tolist())
    much = Constraints(deadline_h=1e6)
    everything = select(table, much)
    said = flips(table, everything.rows, everything.picks["cheapest"], much)
    assert not any(f.change.startswith("Deadline above") for f in said)


def test_a_limit_that_binds_is_one_whose_absence_changes_the_pick(table: Evaluated) -> None:
    for pick in ("cheapest", "fastest"):
        row = chosen(table, pick=pick)
        found = bindings(table, row, LIMITS, pick)
        assert found
        for binding in found:
            without = LIMITS.without(binding.limit)
            then = select(table, without).picks[pick]
            assert option_of(table.plans, then) == binding.then
            assert then != row
            assert (binding.saving_usd if pick == "cheapest" else binding.saving_hours) > 0


def test_no_limit_binds_where_none_is_set(table: Evaluated) -> None:
    limits = Constraints()
    assert bindings(table, chosen(table, limits), limits) == ()


def test_the_tornado_has_the_bill_at_both_ends_widest_first(
    table: Evaluated, engine: Engine
) -> None:
    row = chosen(table, SPOT)
    cost = float(table.plans["cost_usd"].iloc[row])
    found = swings(table, row, engine, None)
    assert {swing.assumption for swing in found} >= {"step time", "start-up", "out of memory"}
    widths = [swing.width_usd for swing in found]
    assert widths == sorted(widths, reverse=True)
    by_name = {one.assumption: one for one in ranges(table, row, engine)}
    step = next(swing for swing in found if swing.assumption == "step time")
    sigma = float(table.plans["log_sigma"].iloc[row])
    assert by_name["step time"].high == pytest.approx(np.exp(1.2816 * sigma), rel=1e-4)
    assert step.high_usd == pytest.approx(bill(table, row, Changed(step=by_name["step time"].high)))
    assert step.low_usd < cost < step.high_usd
    assert not any(swing.overtaken for swing in found)  # without a rival there is no order


def test_a_list_price_is_certain_and_a_spot_price_is_not(table: Evaluated, engine: Engine) -> None:
    on_demand = Constraints(markets=frozenset({"on_demand"}))
    names = {one.assumption for one in ranges(table, chosen(table, on_demand), engine)}
    assert names.isdisjoint({"price", "interruption rate"})
    limits = Constraints(accelerators=frozenset({"H100"}), markets=frozenset({"spot"}),
                         clouds=frozenset({"aws"}))  # fmt: skip
    names = {one.assumption for one in ranges(table, chosen(table, limits), engine)}
    assert names >= {"price", "interruption rate"}


def test_bills_are_equal_at_the_break_even(table: Evaluated, engine: Engine) -> None:
    result = select(table, LIMITS)
    row = result.picks["cheapest"]
    rival = rival_row(table.plans, result.rows, row)
    assert rival is not None
    rival_usd = float(table.plans["cost_usd"].iloc[rival])
    found = {one.assumption: one for one in break_evens(table, row, engine, rival_usd)}
    crossing = found["step time"].crossing
    assert crossing is not None
    # A cheaper plan must get slower until they meet, a dearer one faster.
    assert (crossing > 1) == (bill(table, row, Changed()) < rival_usd)
    at = bill(table, row, Changed(step=crossing))
    assert at == pytest.approx(rival_usd, rel=1e-4)
    for one in found.values():
        assert min(one.factor) < one.low <= 1 <= one.high < max(one.factor)
        assert np.all(np.diff(one.chosen_usd) >= -1e-9)


def test_common_errors_cancel_between_plans_on_like_machines(
    table: Evaluated, engine: Engine
) -> None:
    rows = select(table, LIMITS).rows
    plans = table.plans.iloc[rows]
    row = chosen(table)
    name = table.plans["instance_type"].iloc[row]
    own = rows[((plans["instance_type"] == name)
                & (plans["market"] == table.plans["market"].iloc[row])).to_numpy()]  # fmt: skip
    alike = [row, next(int(r) for r in own if table.plans["entry"].iloc[r]
                       != table.plans["entry"].iloc[row])]  # fmt: skip
    costs = np.log(bill_draws(table, np.array(alike), engine).costs)
    spread = float((costs[0] - costs[1]).std())
    assert spread < 0.7 * float(np.hypot(costs[0].std(), costs[1].std()))
    # The interval of each alone is as wide as the table says.
    sigma = table.plans["log_sigma"].to_numpy()[alike]
    assert costs.std(axis=1) == pytest.approx(sigma, rel=0.1)


def test_half_of_the_drawn_bills_are_above_the_expected_one(
    table: Evaluated, engine: Engine
) -> None:
    on_demand = Constraints(markets=frozenset({"on_demand"}), clouds=frozenset({"aws"}))
    row = chosen(table, on_demand)
    costs = bill_draws(table, np.array([row]), engine).costs[0]
    assert np.mean(costs > table.plans["cost_usd"].iloc[row]) == pytest.approx(0.5, abs=0.03)


def test_the_robust_plan_has_the_least_expected_regret(choice: Choice) -> None:
    assert choice.robust_regret_usd <= choice.regret_usd
    assert all(choice.robust_regret_usd <= duel.regret_usd + 1e-9 for duel in choice.duels)
    chances = [duel.beats_probability for duel in choice.duels]
    assert chances == sorted(chances)
    assert 0 < choice.cheapest_probability < 1
    assert 1 < choice.considered <= 66


def test_the_same_answer_gives_the_same_explanation(
    choice: Choice, table: Evaluated, engine: Engine
) -> None:
    result = select(table, LIMITS)
    again = choice_of(table, result.rows, result.picks["cheapest"], LIMITS, engine)
    assert again == choice
    assert choice.from_json(choice.to_json()) == choice


def test_the_difference_to_the_rival_is_said_with_its_parts(choice: Choice) -> None:
    assert choice.rival is not None
    first, sure = choice.why
    assert "less than" in first
    assert "an hour against" in first
    assert sure.startswith("Its bill turns out the lower of the two with a chance of ")


def test_a_plan_alone_has_no_rival(table: Evaluated, engine: Engine) -> None:
    row = chosen(table)
    found = choice_of(table, np.array([row]), row, LIMITS, engine)
    assert found.rival is None
    assert found.break_evens == found.duels == ()
    assert found.why == ("It is the only plan within the limits.",)
    assert found.cheapest_probability == 1
    assert found.regret_usd == found.robust_regret_usd == 0
