"""Files that take long: their bars, their end, and what came over HTTP, on the page Profiles."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from ui_apps import open_page, text_of

from advisor.testing.uploads import profiler_trace
from advisor.traces import read_all
from advisor.ui import uploads
from advisor.ui.reads import READS, Read

MIB = 2**20


@dataclass
class Held:
    """Reads that stand still until they are let go."""

    go: threading.Event = field(default_factory=threading.Event)

    def __call__(self, file: Any, name: str, progress: Any) -> Any:
        if name.startswith("slow"):
            progress(3 * MIB, 12 * MIB)
            progress.steps(7)
            while not self.go.wait(0.01):
                progress(3 * MIB, 12 * MIB)
        return read_all(file, name, progress=progress)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch, engine_copy: Path) -> Iterator[Held]:
    reads = Held()
    monkeypatch.setattr("advisor.ui.reads.read_all", reads)
    monkeypatch.setattr(uploads, "_PATIENCE_S", 0.6)
    monkeypatch.setattr(uploads, "_QUICK_S", 0.1)
    yield reads
    reads.go.set()


def upload(*names: str) -> AppTest:
    test = open_page("profiles")
    files = [(name, profiler_trace(), "application/json") for name in names]
    return test.file_uploader[0].set_value(files).run()


def bars(test: AppTest) -> list[str]:
    assert not test.exception
    return [bar.text.replace("\\", "") for bar in test.get("progress")]


def test_a_long_read_shows_its_bytes_and_steps_and_is_cancelled(held: Held) -> None:
    test = upload("slow.json")
    assert bars(test) == ["slow.json: 3.00 of 12.0 MiB, 7 steps"]
    assert "Each file becomes a card" in text_of(test)
    (read,) = [one for one in READS._reads.values() if not one.has_ended]
    next(one for one in test.button if one.label == "Cancel").click().run()
    assert bars(test) == []
    assert read.wait(10)
    assert (read.state, read.upload) == ("cancelled", None)
    assert "Each file becomes a card" in text_of(test)


def test_a_long_read_becomes_a_card_when_it_ends(held: Held) -> None:
    test = upload("slow.json")
    (read,) = [one for one in READS._reads.values() if not one.has_ended]
    held.go.set()
    assert read.wait(30)
    test.run()
    assert bars(test) == []
    assert "**1 file**" in text_of(test)
    assert READS.get(read.key) is None


def test_files_that_are_read_are_not_held_back_by_a_long_one(held: Held) -> None:
    test = upload("slow.json", "quick.json")
    assert "**1 file**" in text_of(test)
    assert "quick.json" in text_of(test)
    assert len(bars(test)) == 1


def test_all_files_are_cancelled_at_once(held: Held) -> None:
    test = upload("slow1.json", "slow2.json", "slow3.json")
    assert [text.split(":")[1][:6] for text in bars(test)].count(" waits") == 1
    next(one for one in test.button if one.label == "Cancel all").click().run()
    assert bars(test) == []
    assert "Each file becomes a card" in text_of(test)


def test_reads_go_on_while_another_page_is_open(held: Held) -> None:
    test = upload("slow.json")
    test.switch_page("advisor/ui/pages/compare.py").run()
    (read,) = [one for one in READS._reads.values() if not one.has_ended]
    held.go.set()
    assert read.wait(30)
    test.switch_page("advisor/ui/pages/profiles.py").run()
    assert "**1 file**" in text_of(test)


def posted(name: str) -> Read:
    data = profiler_trace()
    return READS.start(io.BytesIO(data), name, len(data), shared=True)


def test_what_came_over_http_is_followed_and_becomes_a_card(held: Held) -> None:
    read = posted("slow.json")
    test = open_page("profiles", read=read.key)
    assert bars(test) == ["slow.json: 3.00 of 12.0 MiB, 7 steps"]
    assert "read" not in test.query_params
    held.go.set()
    assert read.wait(30)
    test.run()
    assert "**1 file**" in text_of(test)
    assert READS.get(read.key) is read  # who sent it may still ask


def test_what_came_over_http_is_cancelled_for_who_sent_it_too(held: Held) -> None:
    read = posted("slow.json")
    test = open_page("profiles", read=read.key)
    next(one for one in test.button if one.label == "Cancel").click().run()
    assert bars(test) == []
    assert read.wait(10)
    assert (READS.get(read.key), read.state) == (read, "cancelled")


def test_an_address_of_a_read_that_is_not_known_says_so(held: Held) -> None:
    test = open_page("profiles", read="nothing")
    assert "not known any more" in test.warning[0].value
    test.run()
    assert not test.warning


def test_a_mistake_of_ours_is_said_and_ends_the_read(
    held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise AssertionError("a mistake")

    monkeypatch.setattr("advisor.ui.reads.read_all", fails)
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    test = upload("a.json")
    assert "a mistake of the advisor" in text_of(test)
