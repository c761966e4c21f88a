"""The store on SQLite: the contract, and what only a file can do."""

from __future__ import annotations

import logging
import time
from pathlib import Path

import pandas as pd
import pytest

from advisor.core.errors import StoreError
from advisor.store import Store
from advisor.testing.store import StoreContract
from advisor.testing.store_processes import in_processes, open_and_add
from advisor.testing.store_runs import SOURCE, run


def frame_of(rows: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "model": [f"net-{i % 300}" for i in range(rows)],
            "family": "cnn",
            "params": [None if i % 3 else 1e6 + i for i in range(rows)],
            "accelerator": "V100",
            "accelerators": 8,
            "step_time_s": [0.1 + i for i in range(rows)],
        }
    )


class TestSqlite(StoreContract):
    @pytest.fixture
    def store_url(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path}/advisor.db"


def test_by_default_the_store_is_a_file_in_the_data_directory(own_data_dir: Path) -> None:
    with Store.open() as store:
        store.add([run()])
        assert store.where == str(own_data_dir / "advisor.db")
    assert [path.name for path in own_data_dir.iterdir()] == ["advisor.db"]


def test_the_address_can_come_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADVISOR_DATABASE_URL", f"sqlite:///{tmp_path}/mine.db")
    Store.open().close()
    assert (tmp_path / "mine.db").exists()


def test_a_relative_file_stays_where_it_was_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Store.open("sqlite:///own 100%.db") as store:
        monkeypatch.chdir("/")
        store.add([run()])
    assert (tmp_path / "own 100%.db").exists()


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("sqlite://", "needs a file"),
        ("sqlite:///:memory:", "needs a file"),
        ("no address", "no URL"),
        ("nosuch://host/db", "cannot hold the store"),
        ("mssql+nosuch://me:secret@host/db", "cannot hold the store"),
        ("no address with secret", "no URL"),
    ],
)
def test_an_address_of_no_use_is_explained(url: str, says: str) -> None:
    with pytest.raises(StoreError, match=says) as caught:
        Store.open(url)
    assert "secret" not in str(caught.value)


def test_the_file_has_a_write_ahead_log_and_checks_references(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store, store._reading() as connection:
        pragmas = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "foreign_keys", "synchronous", "busy_timeout")
        }
    assert pragmas == {
        "journal_mode": "wal",
        "foreign_keys": 1,
        "synchronous": 1,
        "busy_timeout": 30000,
    }


def test_opening_is_silent(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        Store.open(f"sqlite:///{tmp_path}/a.db").close()
    assert not caplog.records
    assert capfd.readouterr() == ("", "")


def test_processes_race_to_make_many_stores(tmp_path: Path) -> None:
    urls = [f"sqlite:///{tmp_path}/{i}.db" for i in range(10)]
    in_processes(2, open_and_add, urls)
    for url in urls:
        with Store.open(url) as store:
            assert store.count() == 2


def test_ten_thousand_runs_are_fast(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        start = time.process_time()
        assert store.add_frame(frame_of(10_000), SOURCE).added == 10_000
        assert time.process_time() - start < 3
        start = time.process_time()
        assert len(store.profiles()) == 10_000
        assert time.process_time() - start < 1
        times_s = []
        for _ in range(5):
            start = time.process_time()
            store.data_hash()
            times_s.append(time.process_time() - start)
        assert min(times_s) < 0.05
