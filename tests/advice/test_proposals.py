"""Proposals: a plan with its question, from advice, from a row, from a file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from advisor.advice import advise
from advisor.advice.advise import select
from advisor.advice.asked import fields_of, limits_from, options_from
from advisor.advice.job import Job
from advisor.advice.proposal_files import proposal_of_text, read_proposal
from advisor.advice.proposals import propose, propose_row
from advisor.advice.sharing import export_plan, proposal_in
from advisor.core.errors import InvalidInputError, UnknownNameError
from advisor.domain import Proposal
from advisor.search.constraints import Constraints
from advisor.search.search import SearchOptions, evaluate

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.advice import Engine
    from advisor.domain import Advice
    from advisor.search.search import Evaluated

JOB = Job(model="llama-2-7b", amount=1e9, sample_size=4096, global_batch=256)
LIMITS = Constraints(clouds=frozenset({"aws", "gcp"}), deadline_h=48.0)
OPTIONS = SearchOptions(most_accelerators=64)


@pytest.fixture(scope="module")
def advice(engine: Engine) -> Advice:
    return advise(JOB.workload(), engine, options=OPTIONS, limits=LIMITS)


@pytest.fixture(scope="module")
def evaluated(engine: Engine) -> Evaluated:
    return evaluate(JOB.workload(), engine.catalog, engine.predictor, OPTIONS)


def test_limits_and_options_come_back_from_their_fields() -> None:
    for limits in (LIMITS, Constraints(), Constraints(markets=None, budget_usd=10.5)):
        assert limits_from(json.loads(json.dumps(fields_of(limits)))) == limits
    assert options_from(fields_of(OPTIONS)) == OPTIONS
    assert fields_of(LIMITS)["clouds"] == ["aws", "gcp"]


def test_a_limit_that_is_not_known_or_no_limit_is_named() -> None:
    with pytest.raises(UnknownNameError, match="unknown limit “deadline_d”"):
        limits_from({"deadline_d": 3})
    with pytest.raises(InvalidInputError, match=r"limits\.deadline_h"):
        limits_from({"deadline_h": "soon"})
    with pytest.raises(InvalidInputError, match="positive"):
        limits_from({"deadline_h": -1})


@pytest.mark.parametrize("pick", ["cheapest", "fastest", "best_value", "safest"])
def test_a_pick_is_proposed_with_its_limits_and_the_next_choice(advice: Advice, pick: str) -> None:
    found = propose(advice, pick)
    chosen = advice.picks[pick].plan
    assert (found.plan, found.plan_id, found.pick) == (chosen, chosen.id, pick)
    assert limits_from(found.limits) == LIMITS
    assert found.runner_up is not None
    assert found.runner_up.offer.instance_type != chosen.offer.instance_type
    measure = "hours" if pick == "fastest" else "cost_usd"
    if pick in ("cheapest", "fastest"):
        assert getattr(found.runner_up, measure).value >= getattr(chosen, measure).value
    names = [one.name for one in found.alternatives]
    assert names[0] == "runner-up"
    assert pick not in names


def test_the_runner_up_of_the_cheapest_is_the_cheapest_on_other_machines(
    advice: Advice, evaluated: Evaluated
) -> None:
    found = propose(advice).runner_up
    assert found is not None
    rows = select(evaluated, LIMITS).rows
    plans = evaluated.plans.iloc[rows]
    chosen = advice.picks["cheapest"].plan.offer.instance_type
    known = plans[plans["untouched"].notna() | (plans["interruption_basis"] == "")]
    others = known[known["instance_type"] != chosen]
    assert found.cost_usd.value == pytest.approx(others["cost_usd"].min())


def test_an_unknown_pick_is_named(advice: Advice) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean fastest"):
        propose(advice, "fast")


def test_a_row_is_proposed_like_the_pick_that_it_is(
    advice: Advice, evaluated: Evaluated, engine: Engine
) -> None:
    result = select(evaluated, LIMITS)
    row = result.picks["fastest"]
    assert propose_row(advice, evaluated, result, row, engine, LIMITS) == propose(advice, "fastest")
    other = int(result.rows[len(result.rows) // 2])
    found = propose_row(advice, evaluated, result, other, engine, LIMITS)
    assert (found.pick, found.reason) == ("", "")
    assert found.runner_up is not None


def test_every_file_that_holds_a_plan_with_its_job_is_read(advice: Advice, tmp_path: Path) -> None:
    proposal = propose(advice, "safest")
    path = tmp_path / "plan.json"
    path.write_text(proposal.to_json())
    assert read_proposal(path) == proposal
    path.write_text(json.dumps(advice.to_dict()))  # what “advise --json” prints
    assert read_proposal(path, "safest") == proposal
    assert read_proposal(path).pick == "cheapest"
    path.write_text(advice.to_json())
    assert read_proposal(path, "safest") == proposal
    saved = {"plan": json.loads(proposal.plan.to_json()), "name": "mine", "job": "a job",
             "workload": json.loads(proposal.workload.to_json())}  # fmt: skip
    path.write_text(json.dumps(saved))
    found = read_proposal(path)
    assert (found.plan, found.workload, found.job) == (proposal.plan, proposal.workload, "a job")
    path.write_text(export_plan(proposal, "json").text)
    assert proposal_in(path) == proposal


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "no plan"),
        ('{"kind": "Plan"}', "without its job"),
        ('{"plan": {}, "workload": {}}', "Plan.cluster"),
        ('{"plan": 3, "workload": {}}', "expected a JSON object"),
        ('{"picks": {}}', "Advice"),
        ('{"kind": "Proposal", "version": 99, "plan": {}, "workload": {}}', "version 99"),
    ],
)
def test_a_text_that_holds_no_plan_is_refused_with_what_to_give(text: str, says: str) -> None:
    with pytest.raises(InvalidInputError, match=says) as caught:
        proposal_of_text(text, where="plan.json")
    assert caught.value.where.startswith("plan.json")
    assert caught.value.todo


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="No such file"):
        read_proposal(tmp_path / "nothing.json")
    with pytest.raises(InvalidInputError, match="cannot be read"):
        read_proposal(tmp_path)
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInputError, match="not text"):
        read_proposal(tmp_path / "binary")


def test_a_pick_of_one_plan_is_refused(advice: Advice, tmp_path: Path) -> None:
    proposal = propose(advice)
    path = tmp_path / "plan.json"
    path.write_text(proposal.to_json())
    for source in (path, proposal):
        with pytest.raises(InvalidInputError, match="one plan"):
            proposal_in(source, "fastest")
    assert proposal_in(advice, "fastest").pick == "fastest"


def test_a_proposal_keeps_what_only_it_knows_in_its_export(advice: Advice) -> None:
    made = export_plan(advice, "json", pick="fastest")
    whole = Proposal.from_json(made.text)
    assert whole.limits["deadline_h"] == 48.0
    assert whole.plan_id in made.file_name
