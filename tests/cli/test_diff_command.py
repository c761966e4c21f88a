"""The command ``diff``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from command_line import (  # noqa: F401 - fixtures
    advisor_fixture,
    run_fixture,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from command_line import Ran

ASK = ("export", "--model", "resnet-50", "--cloud", "aws", "--market", "on-demand",
       "--max-machines", "2", "--to", "json", "-o")  # fmt: skip


def test_two_plans_are_compared_in_words_and_as_json(
    advisor: Callable[..., Ran], tmp_path: Path
) -> None:
    a, b = str(tmp_path / "a.json"), str(tmp_path / "b.json")
    for path, epochs in ((a, "2"), (b, "6")):
        assert advisor(*ASK, path, "--epochs", epochs).code == 0
    ran = advisor("diff", a, b)
    assert ran.code == 0, ran.err
    assert "Bill: $" in ran.out
    assert "the other job on the same machines" in " ".join(ran.out.split())
    told = advisor("diff", a, b, "--json").json
    total = sum(effect["usd"] for effect in told["effects"])
    assert abs(total - (told["after_usd"] - told["before_usd"])) < 0.02
    assert "Nothing changed" in advisor("diff", a, a).out


def test_what_is_no_plan_is_named(advisor: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    for before, after in (("a.json", "b.json"), ("b.json", "a.json")):
        ran = advisor("diff", str(tmp_path / before), str(tmp_path / after))
        assert (ran.code, ran.out) == (2, "")
        assert str(tmp_path / before) in ran.err
