"""Open the app, or one of its pages, with Streamlit's own test driver."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[2]
Open = Callable[..., AppTest]


def open_page(page: str, **address: str | list[str]) -> AppTest:
    """Run a page with values in its address."""
    test = AppTest.from_file(str(ROOT / "app.py"), default_timeout=90)
    if page != "advise":
        test.switch_page(f"advisor/ui/pages/{page}.py")
    for name, value in address.items():
        test.query_params[name] = value
    return test.run()


def text_of(test: AppTest) -> str:
    """Return all text of the page; it must have run without an exception."""
    assert not test.exception
    return "\n".join(element.value for element in test.markdown)


def button(test: AppTest, label: str):
    """Return the first button with a label."""
    return next(b for b in test.button if b.label == label)
