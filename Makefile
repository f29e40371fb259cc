# azulsim: `make` sets everything up in .venv; `make help` lists the rest.

# The first Python that azulsim supports; choose one yourself with `make PYTHON=python3.12`.
SUPPORTED = import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
PYTHON ?= $(firstword $(foreach python,python3 python3.13 python3.12 python3.11,\
	$(shell $(python) -c '$(SUPPORTED)' 2>/dev/null && echo $(python))) python3)
VENV ?= .venv
DEMO ?= runs/demo
WORKERS ?= auto

BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := setup
.PHONY: setup demo test test-long lint format bench warm clean help

setup: $(READY)  ## create .venv from the project's own files (quick when nothing changed)

$(READY): pyproject.toml
	@$(PYTHON) -c '$(SUPPORTED)' || { echo "azulsim needs Python 3.11, 3.12 or 3.13: try make PYTHON=/path/to/python3.12" >&2; exit 1; }
	@echo "setting up $(VENV) with $$($(PYTHON) --version); this takes a minute or two the first time" >&2
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check 'pip>=25.1'
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --group dev --editable .
	@touch $@

demo: $(READY)  ## play the demonstration and build its page; the last line is the path of the page
	@rm -rf $(DEMO)
	@$(BIN)/azulsim run demo --out $(DEMO)

test: lint warm  ## lint, and the fast tests
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadgroup -m "not long"

test-long: lint warm  ## lint, and all tests (takes a while)
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadgroup --hypothesis-profile new

lint: $(READY)  ## style, types, and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)  ## put the code into the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: warm  ## measure speed against the limits in benchmarks/
	$(BIN)/python benchmarks/bench.py

# One game before many workers start: they find the compiled engine instead of all compiling it.
warm: $(READY)
	@$(BIN)/python -c "import azulsim; azulsim.play('greedy', 'uniform', seed=1)"

clean:  ## remove what was built or measured (keeps runs/)
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help:  ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' Makefile
