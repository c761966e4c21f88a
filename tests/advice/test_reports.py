"""The report for the one who pays: what stands in it, and that nothing given breaks it."""

from __future__ import annotations

import datetime as dt
import html.parser
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.advice.proposals import propose
from advisor.advice.reports import html_of, pdf_of, report_of
from advisor.advice.sharing import write_report
from advisor.core.errors import InvalidInputError
from advisor.domain import Advice, Alternative, Bill, Interruptions, Proposal
from advisor.domain.advice import Pick
from advisor.testing.exports import HOSTILE_NAME
from advisor.testing.store_plans import WORKLOAD, plan

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.domain import Plan

DAY = dt.date(2026, 8, 1)


def other(**changes: object) -> Plan:
    """Return a dearer and slower plan on other machines."""
    base = plan(4)
    cost = base.cost_usd.model_copy(update={"value": 150.0, "low": 120.0, "high": 190.0})
    hours = base.hours.model_copy(update={"value": 12.0, "high": 15.0})
    return base.model_copy(update={"cost_usd": cost, "hours": hours} | changes)


JOB = WORKLOAD.model_copy(update={"assumptions": ("optimizer adamw",)})
PROPOSAL = Proposal(
    plan_id=plan().id, plan=plan(), workload=JOB, pick="cheapest", reason="Lowest bill of 7.",
    limits={"deadline_h": 24.0, "chance": 0.8, "budget_usd": 500, "clouds": ["aws", "gcp"],
            "regions": None, "confidential": True, "quota": {"H100": 8}},
    options={"memory_margin": 0.1, "retry_share": 0.0},
    alternatives=(Alternative(name="runner-up", plan=other()),
                  Alternative(name="fastest", plan=other())),
    catalog={"as_of": "2026-07-20"}, predictor={"runs": 7713}, caveats=("no experts",),
    made_on=dt.date(2026, 7, 21),
)  # fmt: skip


class Texts(html.parser.HTMLParser):
    """The text of a page, and the tags that opened and never closed."""

    void = frozenset({"meta", "br", "line", "circle", "link", "img"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text: list[str] = []
        self.tags: list[str] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - as the parser calls it
        self.tags.append(tag)
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.void:
            assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - as the parser calls it
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def page_text(proposal: Proposal) -> str:
    parsed = Texts(html_of(report_of(proposal, DAY)))
    assert parsed.open == []
    return " ".join(" ".join(parsed.text).replace("\xa0", " ").split())


def test_the_page_says_what_the_one_who_pays_asks() -> None:
    said = page_text(PROPOSAL)
    for wanted in (
        "2 × p4d.24xlarge (16 × A100-40GB)", "AWS us-east-1, spot", "$113", "$90.0 to $140",
        "10.0 h", "8.0–13.0 h", "90 %", "within 24 h", "Cheapest within the limits. Lowest bill",
        "Machines while they train $100.00", "All of it, median $112.75", "toy, 1.00 B parameters",
        "$37.2 more, 2.0 h longer", "The intervals of the cost overlap", "Budget $500",
        "AWS, Google Cloud", "Confidential yes", "Quota H100 8", "No experts.",
        "price list", "2026-07-20", "optimizer adamw", f"plan {PROPOSAL.plan.id} of 2026-07-21",
        "Report of 2026-08-01", "catalog catalog", "data data, 7,713 measured runs",
        "Runner-up, fastest",
    ):  # fmt: skip
        assert wanted in said, wanted
    assert "Regions" not in said  # no limit was set
    assert "Allowance" not in said.split("The limits that were set")[1]


def test_the_bill_on_the_page_sums_to_its_total() -> None:
    report = report_of(PROPOSAL, DAY)
    parts = [float(value.replace("$", "").replace(",", "")) for _, value in report.bill]
    assert sum(parts) == pytest.approx(float(report.bill_total.replace("$", "")), abs=0.005)


def test_what_nobody_knows_is_said_and_never_a_zero() -> None:
    bill = Bill(machines_usd=100, startup_usd=0, retries_usd=0, interruptions_usd=None)
    unknown = plan().model_copy(
        update={"bill": bill, "interruptions": Interruptions(basis="no interruption data")}
    )
    said = page_text(PROPOSAL.model_copy(update={"plan": unknown}))
    assert "at least $113" in said
    assert "hours and bill are lower bounds" in said
    assert "checkpoint storage (no price known)" in said
    bare = Proposal(plan=plan(), workload=WORKLOAD)
    said = page_text(bare)
    assert "None were recorded." in said
    assert "none was recorded" in said
    assert "plan " + bare.plan.id + " of not recorded" in said


def test_every_part_of_a_bill_has_a_line_of_its_own_and_what_is_unknown_is_named() -> None:
    names = [name for name in Bill.model_fields if name.endswith("_usd")]
    whole = plan().model_copy(update={"bill": Bill.model_validate(dict.fromkeys(names, 7.0))})
    report = report_of(PROPOSAL.model_copy(update={"plan": whole}), DAY)
    assert len({label for label, _ in report.bill}) == len(names)
    assert report.bill_note == "Not contained: taxes, the data set (none stated)."


def test_a_plan_that_is_better_in_every_way_is_named_so() -> None:
    cheaper = Alternative(name="runner-up", plan=plan())
    dear = PROPOSAL.model_copy(update={"plan": other(), "alternatives": (cheaper,)})
    assert "$37.2 less, 2.0 h sooner" in report_of(dear, DAY).runner_up.replace("\xa0", " ")


def test_one_page_of_pdf_holds_it_all_and_is_the_same_byte_for_byte() -> None:
    many = PROPOSAL.model_copy(update={"caveats": tuple(f"caution {i} " * 9 for i in range(40))})
    for proposal in (PROPOSAL, many):
        made = pdf_of(report_of(proposal, DAY))
        assert made.startswith(b"%PDF-")
        assert len(re.findall(rb"/Type /Page\b", made)) == 1
        assert made == pdf_of(report_of(proposal, DAY))
        assert b"/JavaScript" not in made
    assert b"FontFile2" in made  # it looks the same everywhere


def test_hostile_names_stay_text() -> None:
    bad = HOSTILE_NAME + "<script>alert(1)</script><b>&amp;</b>'\"</style><img src=x onerror=a>"
    model = WORKLOAD.model_copy(
        update={"model": WORKLOAD.model.model_copy(update={"name": bad}), "assumptions": (bad,)}
    )
    hostile = PROPOSAL.model_copy(
        update={"workload": model, "reason": bad, "caveats": (bad,), "limits": {bad: bad},
                "alternatives": (Alternative(name=bad, plan=other()),), "catalog": {"as_of": bad}}
    )  # fmt: skip
    clean = Texts(html_of(report_of(PROPOSAL, DAY)))
    parsed = Texts(html_of(report_of(hostile, DAY)))
    assert parsed.open == []
    assert set(parsed.tags) == set(clean.tags)
    assert "<script>alert(1)</script>" in " ".join(parsed.text)
    assert pdf_of(report_of(hostile, DAY)).startswith(b"%PDF-")


@settings(max_examples=8)
@given(name=st.text(min_size=1, max_size=300))
def test_any_name_can_stand_on_both_pages(name: str) -> None:
    try:
        model = WORKLOAD.model.model_copy(update={"name": name})
        report = report_of(
            PROPOSAL.model_copy(update={"workload": WORKLOAD.model_copy(update={"model": model})}),
            DAY,
        )
        page = html_of(report)
        page.encode()
    except UnicodeEncodeError:
        pytest.fail("a name broke the page")
    assert Texts(page).open == []
    assert pdf_of(report).startswith(b"%PDF-")


def test_the_report_is_made_of_advice_a_plan_or_a_file(tmp_path: Path) -> None:
    advice = Advice(
        workload=WORKLOAD, picks={"cheapest": Pick(plan=plan(), reason="Lowest bill.")},
        pareto=(), candidates_considered=1, removed_by={}, catalog={}, predictor={},
    )  # fmt: skip
    proposal = propose(advice)
    path = tmp_path / "plan.json"
    path.write_text(proposal.to_json())
    made = {write_report(source, "html", made_on=DAY) for source in (advice, proposal, path)}
    assert len(made) == 1
    assert write_report(advice, "pdf", made_on=DAY).startswith(b"%PDF-")
    with pytest.raises(InvalidInputError, match="html or pdf"):
        write_report(advice, "docx")  # type: ignore[arg-type]  # a user may
