# `make demo` and `make test` need nothing but Python 3.11 or later with pip: they make .venv themselves.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --retries 10 --disable-pip-version-check -c constraints.txt

# The tests run in two processes: one thread each, or they would fight for the cores.
test fast: export OMP_NUM_THREADS = 1

.PHONY: demo test check fast format campaign clean chromium postgresql

demo: $(VENV)/.installed
	$(BIN)/shoal demo --out demo-run --overwrite

test: $(VENV)/.installed-dev chromium postgresql
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 --dist worksteal -rs src tests bench

# All but the tests that take over a second each.
fast: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow" src tests bench

# The pages are tested in a browser. Where there is none and none can be installed, their tests are skipped, loudly.
chromium:
	@command -v chromium chromium-browser google-chrome microsoft-edge >/dev/null || \
	  (apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null) || \
	  echo "WARNING: no Chromium, and it cannot be installed: the tests of the pages will be SKIPPED" >&2

# Databases are read from a real server, which the tests start themselves, on this machine alone.
postgresql:
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || \
	  (apt-get update -qq && apt-get install -y -qq --no-install-recommends postgresql >/dev/null) || \
	  echo "WARNING: no PostgreSQL, and it cannot be installed: the tests of databases on a server will be SKIPPED" >&2

# Attack Shoal: odd files and values, kills at every write, tampered runs, a busy machine; e.g.
# make campaign ARGUMENTS="--chapters files --files 100000 --seed 7"
campaign: export OMP_NUM_THREADS = 1
campaign: export PYTHONPATH = tests
campaign: $(VENV)/.installed-dev
	$(BIN)/python -W ignore -m campaign $(ARGUMENTS)

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# torch first, by its exact version: a bare requirement would bring gigabytes of CUDA packages.
$(VENV)/.installed: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) torch==2.13.0
	$(PIP) -e .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed bench/pyproject.toml
	$(PIP) -e ".[dev]" -e ./bench
	touch $@

clean:
	rm -rf $(VENV) demo-run campaign-results .pytest_cache .mypy_cache .ruff_cache
