"""What all tests share: an own data directory and the reference data."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import settings

from advisor.advice import Engine
from advisor.testing.reference import reference_dir

# A busy machine is no reason to fail.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


@pytest.fixture(autouse=True)
def own_data_dir(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep every test away from the user's own data."""
    path = tmp_path_factory.mktemp("data")
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(path))
    monkeypatch.setenv("ADVISOR_REFIT", "off")  # a test that wants a refit asks for it
    return path


@pytest.fixture(scope="session")
def reference() -> Path:
    """The reference data, or a skip with the reason."""
    path = reference_dir()
    if path is None:
        pytest.skip("no reference data: set ADVISOR_REFERENCE_DIR to its directory")
    return path


@pytest.fixture(scope="session")
def engine_data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data directory of `engine`: a seeded store and the cached predictor."""
    return tmp_path_factory.mktemp("engine")


@pytest.fixture(scope="session")
def engine(engine_data_dir: Path) -> Engine:
    """The catalog, the seeded store and the predictor, made once: training takes seconds.

    A test that opens the app's own engine, and may not wait for a second training, points
    ADVISOR_DATA_DIR to `engine_data_dir`.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADVISOR_DATA_DIR", str(engine_data_dir))
        return Engine.open()


@pytest.fixture
def engine_copy(
    engine: Engine, engine_data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A data directory of one test's own, seeded and trained: what it keeps is for itself."""
    path = tmp_path / "engine"
    shutil.copytree(engine_data_dir, path)
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(path))
    return path
