"""The commands and the code of docs/store.md do what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from advisor.cli import main
from advisor.store import Store
from advisor.testing.postgres import PostgresServer
from advisor.testing.store_plans import WORKLOAD, plan
from advisor.testing.store_runs import run

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "store.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_commands_run_in_their_order(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    postgres_url: str,
    postgres: PostgresServer,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    with Store.open() as store:
        store.add([run(1)])
        key = store.save_plan(plan(), WORKLOAD, name="first").id
    ran = 0
    for line in "".join(blocks("console")).splitlines():
        words = shlex.split(line.removeprefix("$ "))
        if words[0] == "export":
            name, _, address = words[1].partition("=")
            assert address.startswith("postgresql://")
            monkeypatch.setenv(name, postgres_url)
        elif words[:3] == ["python", "-m", "advisor"]:
            with Store.open() as store:
                last = max((edit.id for edit in store.edits()), default=0)
            given = {"ID": key, "EDIT": str(last)}
            assert main([given.get(word, word) for word in words[3:]]) == 0, line
            ran += 1
        else:
            assert words == ["createdb", "advisor"]
    assert ran == 11
    out = capsys.readouterr().out
    assert "Llama, first quarter" in out
    assert postgres.password not in out
    with Store.open(postgres_url) as store:
        assert store.plan(key).name == "Llama, first quarter"
        assert store.count() == 1


def test_the_code_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = blocks("python")
    exec(code, {})  # noqa: S102 - it stands in our own page
    said = re.findall(r"print\(.*\)\s+# (.+)$", code, re.MULTILINE)
    assert len(said) == 4
    assert capsys.readouterr().out.splitlines() == said
