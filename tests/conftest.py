"""What all tests share: an own data directory and the reference data."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.testing.reference import reference_dir


@pytest.fixture(autouse=True)
def own_data_dir(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep every test away from the user's own data."""
    path = tmp_path_factory.mktemp("data")
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(path))
    return path


@pytest.fixture(scope="session")
def reference() -> Path:
    """The reference data, or a skip with the reason."""
    path = reference_dir()
    if path is None:
        pytest.skip("no reference data: set ADVISOR_REFERENCE_DIR to its directory")
    return path
