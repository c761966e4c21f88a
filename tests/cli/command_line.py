"""The command line inside this process, with the engine that is trained already."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from advisor.cli import commands, diff_command, main, plan_source

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.advice import Engine
    from advisor.catalog import Catalog


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as one JSON value without NaN."""

        def refuse(name: str) -> float:
            raise AssertionError(name)

        return json.loads(self.out, parse_constant=refuse)


@pytest.fixture(name="run")
def run_fixture(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Runs a command that needs no engine."""

    def call(*arguments: str) -> Ran:
        capsys.readouterr()
        code = main(arguments)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Ran(code, captured.out, captured.err)

    return call


@pytest.fixture(name="advisor")
def advisor_fixture(
    run: Callable[..., Ran], engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Ran]:
    """Runs a command with the trained engine."""

    class Opened:
        @staticmethod
        def open(catalog: Catalog | None = None) -> Engine:
            assert catalog is None or catalog.hash == engine.catalog.hash
            return engine

    monkeypatch.setattr(commands, "Engine", Opened)
    for module in (plan_source, diff_command):
        monkeypatch.setattr(module, "Engine", Opened)
    return run
