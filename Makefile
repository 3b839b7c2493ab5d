# `make run` and `make test` do all the set-up themselves; they need Python 3.11+ and make only.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
GAMES ?= 100000
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

.DEFAULT_GOAL := help
.PHONY: help run test test-pure lint format bench study notebook verification matrix licences clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

$(STAMP): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; try: make PYTHON=python3.11" >&2; exit 2; }
	@echo "installing into $(VENV) (once) ..."
	@PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install -q -c constraints.txt -e '.[dev]'
	@touch $(STAMP)

run: $(STAMP) ## the main job: play the three presets and print the table
	@$(BIN)/chehuzi simulate two_wang three_wang four_wang --games $(GAMES) --bots greedy --replace --out results/run

test: lint ## lint, then every quick test
	@$(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal

test-pure: $(STAMP) ## the suite as plain Python, with branch coverage of sim
	@NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal --cov --cov-report=term-missing

lint: $(STAMP) ## ruff, mypy --strict, import-linter
	@$(BIN)/ruff check sim analysis tests setup.py
	@$(BIN)/ruff format --check sim analysis tests setup.py
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache > $(VENV)/lint-imports.log 2>&1 || { cat $(VENV)/lint-imports.log; exit 1; }

format: $(STAMP) ## put the source into shape
	@$(BIN)/ruff check --fix -q sim analysis tests setup.py
	@$(BIN)/ruff format -q sim analysis tests setup.py

bench: $(STAMP) ## games per second by variant and bots
	@$(BIN)/chehuzi bench

study: $(STAMP) ## the published study into results/study: a million games of each preset
	@$(BIN)/chehuzi study --jobs $(JOBS)

notebook: $(STAMP) ## the notebooks in JupyterLab
	@$(BIN)/python -c 'import jupyterlab' 2>/dev/null || PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install -q -c constraints.txt -e '.[notebook]'
	@$(BIN)/jupyter lab notebooks

verification: $(STAMP) ## the long checks: all slow tests
	@$(BIN)/python -m pytest -q -m slow -o addopts= -n $(JOBS)

matrix: $(STAMP) ## the same summary under other Pythons, oldest and newest dependencies
	@$(BIN)/python tests/bench/matrix.py

licences: $(STAMP) ## write docs/licences.md from what is installed
	@$(BIN)/python tests/bench/licences.py

clean: ## remove the environment and caches, not results
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
