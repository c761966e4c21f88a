# The menu. Every target works on a fresh machine with Python 3.11+ and nothing else prepared.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: setup run test browser check bench screenshots

setup: $(STAMP)

$(STAMP): requirements.txt requirements-dev.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	touch $@

run: setup
	$(BIN)/python -m advisor serve

test: setup browser
	$(BIN)/python -m pytest

# The browser tests take any Chromium or Chrome; on Debian as root it is installed.
browser:
	@command -v chromium chromium-browser google-chrome google-chrome-stable >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && \
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
	    chromium fonts-dejavu-core; } || echo "no Chromium: the browser tests are skipped"

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup
	$(BIN)/python -m benchmarks.accuracy
	$(BIN)/python -m benchmarks.calibration
	$(BIN)/python -m benchmarks.search_speed
	$(BIN)/python -m benchmarks.ui_latency
	$(BIN)/python -m benchmarks.memory

screenshots: setup
	$(BIN)/python -m benchmarks.screenshots
