# The menu. Every target works on a fresh machine with Python 3.11+ and nothing else prepared.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: setup run test check bench screenshots

setup: $(STAMP)

$(STAMP): requirements.txt requirements-dev.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	touch $@

run: setup
	$(BIN)/python -m advisor serve

test: setup
	$(BIN)/python -m pytest

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup
	$(BIN)/python -m benchmarks.accuracy
	$(BIN)/python -m benchmarks.search_speed
	$(BIN)/python -m benchmarks.ui_latency

screenshots: setup
	$(BIN)/python -m benchmarks.screenshots
