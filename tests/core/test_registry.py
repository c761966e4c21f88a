"""A plug-in is one file in a package; nobody keeps a list."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from advisor.core.errors import UnknownNameError
from advisor.core.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HEAD = "from advisor.core.registry import Registry\nREGISTRY = Registry('shape', __name__)\n"


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Registry[object]]:
    """Makes a package of plug-ins and returns its registry."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(package: str, **modules: str) -> Registry[object]:
        place = tmp_path / package
        place.mkdir()
        (place / "__init__.py").write_text(HEAD)
        for name, code in modules.items():
            (place / f"{name}.py").write_text(f"from {package} import REGISTRY\n{code}\n")
        __import__(package)
        found: Registry[object] = sys.modules[package].REGISTRY
        return found

    return make


def test_plug_ins_are_found_by_walking_the_package(registry: Callable[..., Registry[int]]) -> None:
    found = registry("plugs_a", one="REGISTRY.register('one')(1)", two="REGISTRY.register('2')(2)")
    assert list(found) == ["2", "one"]
    assert len(found) == 2
    assert found["one"] == 1


def test_a_file_made_later_needs_no_second_list(registry: Callable[..., Registry[int]]) -> None:
    found = registry("plugs_b", c="@REGISTRY.register('c')\ndef f():\n    return 3\n")
    assert found["c"]() == 3


def test_an_unknown_name_offers_the_nearest(registry: Callable[..., Registry[int]]) -> None:
    found = registry("plugs_d", a="REGISTRY.register('square')(1)")
    with pytest.raises(UnknownNameError, match=r"“sqare”\. Did you mean square\?"):
        found["sqare"]


def test_two_plug_ins_of_one_name_are_a_mistake(registry: Callable[..., Registry[int]]) -> None:
    found = registry("plugs_e", a="REGISTRY.register('x')(1)", b="REGISTRY.register('x')(2)")
    with pytest.raises(ValueError, match="two shapes are called 'x'"):
        list(found)


def test_a_broken_plug_in_is_said_each_time(registry: Callable[..., Registry[int]]) -> None:
    found = registry("plugs_f", a="raise RuntimeError('broken')", b="REGISTRY.register('x')(2)")
    for _ in range(2):
        with pytest.raises(RuntimeError, match="broken"):
            list(found)


def test_a_plug_in_may_ask_the_registry_while_it_is_imported(
    registry: Callable[..., Registry[int]],
) -> None:
    found = registry("plugs_g", a="REGISTRY.register('n')(len(REGISTRY))")
    assert found["n"] == 0


def test_threads_that_come_first_together_all_see_every_plug_in(
    registry: Callable[..., Registry[int]],
) -> None:
    slow = "import time\ntime.sleep(0.05)\nREGISTRY.register('{0}')(1)"
    found = registry("plugs_t", **{name: slow.format(name) for name in "abcd"})
    with ThreadPoolExecutor(4) as pool:
        seen = list(pool.map(lambda _: list(found), range(4)))
    assert seen == [["a", "b", "c", "d"]] * 4
