"""The address of the store: no message repeats a password, however it was written."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.core.errors import StoreError
from advisor.store import Store
from advisor.store.address import readable, resolve

SECRET = "hunter2"  # noqa: S105 - no secret, and must not be shown all the same


@pytest.mark.parametrize(
    ("address", "says"),
    [
        (f"postgresql://u:se@{SECRET}@localhost:1/db", "write @ as %40"),
        (f"postgresql://u:se@c/{SECRET}@localhost:1/db", "write @ as %40"),
        (f"postgresql://u:p@{SECRET}?x@localhost:1/db", "write @ as %40"),
        (f"postgresql://{SECRET}@x@localhost:1/db", "write @ as %40"),
        (f"postgresql://u:p@localhost,{SECRET}@x:1/db", "write @ as %40"),
        (f"postgresql://u:p@{SECRET}%40localhost:1/db", "write @ as %40"),
        (f"postgresql://u:p@localhost:1/db?host={SECRET}@x", "write @ as %40"),
        (f"postgresql://u:p@localhost:1/db?host={SECRET}%40x", "write @ as %40"),
        (f"postgresql://u:p@{SECRET} !:1/db", "write @ as %40"),
        (f"postgresql://u:p@localhost:1/db?passwd={SECRET}", "setting that is not known"),
        (f"postgresql://u:p@localhost:1/db?{SECRET}=1", "setting that is not known"),
        (f"postgresql://u:p@localhost:1/db?password={SECRET}", "cannot be reached"),
        (f"postgresql://u:p@localhost:1/db?options={SECRET}", "cannot be reached"),
        (f"postgresql://u:{SECRET}/:#?[@localhost:1/db", "cannot be reached"),
        (f"postgresql://u:p@localhost:{SECRET}/db", "no URL"),
        (f"{SECRET}@localhost", "no URL"),
        (f"mysql://u:{SECRET}@localhost/db", "kind “mysql”"),
        (f"sqlite://u:{SECRET}@/a.db", "no user, host or settings"),
        (f"sqlite:///a.db?password={SECRET}", "no user, host or settings"),
        (f"sqlite:///:memory:{SECRET}", "needs a file"),
    ],
)
def test_no_message_repeats_a_secret_of_the_address(
    address: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(StoreError) as given:
        Store.open(address, wait_s=0.1)
    monkeypatch.setenv("ADVISOR_DATABASE_URL", address)
    with pytest.raises(StoreError) as found:
        Store.open(wait_s=0.1)
    for caught in (given, found):
        message = str(caught.value)
        assert says in message
        assert SECRET not in message
        assert "\n" not in message
        assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgres://u:a%40b@h/db", "postgresql://u:***@h/db"),
        ("postgresql://u:p@[::1]:5432/db", "postgresql://u:***@[::1]:5432/db"),
        ("postgresql://u:p@/db?host=/run/pg&password=q&sslmode=require",
         "postgresql://u:***@/db?host=%2Frun%2Fpg&sslmode=require"),
        ("postgresql:///db?host=a_b.example-1.com%3A1&host=c%3A2",
         "postgresql:///db?host=a_b.example-1.com%3A1&host=c%3A2"),
    ],
)  # fmt: skip
def test_an_address_is_shown_without_its_secrets(address: str, shown: str) -> None:
    assert readable(resolve(address)) == shown


def test_a_password_keeps_its_signs() -> None:
    assert resolve("postgresql://u:a%40b%2Fc@h/db").password == "a@b/c"  # noqa: S105 - no secret


def test_a_file_may_hold_any_sign_in_its_path(tmp_path: Path) -> None:
    path = tmp_path / "me@home: 1"
    path.mkdir()
    with Store.open(f"sqlite:///{path}/a@b.db") as store:
        assert store.where == f"{path}/a@b.db"
    assert (path / "a@b.db").is_file()
