# Everything happens in .venv; nothing outside it is changed but the cache that holds the model's weights.
#   make demo    install, fetch the model, one request the whole way
#   make test    install, check, fetch the model, all tests
#   make check   format, lint, types, imports, generated docs
#   make bench   the figures of the README
#   make fuzz    ten minutes of inputs nobody thought of, for reading and checking flows

ifndef PYTHON
PYTHON := $(shell for p in python3.13 python3.12 python3.11 python3.14 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$p && break; done)
endif
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest
COVER := --cov --cov-config=pyproject.toml
# One file for each make, so that two at once do not mix: $$PPID is the make that asks.
export COVERAGE_FILE := $(CURDIR)/.coverage-$(shell echo $$PPID)

.DEFAULT_GOAL := help
.PHONY: help install pull demo test unit model-tests check lint docs format bench fuzz clean

help:
	@sed -n 's/^#   //p' Makefile

install:
	@test -n "$(PYTHON)" || { \
	  echo "Surefoot needs Python 3.11 or newer, and none was found." >&2; \
	  echo "Debian: sudo apt-get install python3 python3-venv   macOS: brew install python" >&2; exit 1; }
	@$(PYTHON) scripts/install.py

pull: install
	@$(BIN)/surefoot models pull

demo: pull
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh scripts/demo.sh

test: check unit model-tests

unit: install
	$(PYTEST) -q -n 2 -m "not model" $(COVER) --cov-report= --cov-fail-under=0

model-tests: unit pull
	$(PYTEST) -q -m model $(COVER) --cov-append --cov-report=term
	@rm -f "$(COVERAGE_FILE)"*

check: lint
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/python scripts/docs.py --check

lint: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

format: install
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: install
	$(BIN)/python scripts/docs.py

bench: pull
	@status=0; for file in benchmarks/*.py; do \
	  echo "== $$file"; $(BIN)/python "$$file" || status=1; done; exit $$status

# The fuzzer is no part of the environment: it has a folder of its own, and what it finds lies there, too.
fuzz: install
	@$(BIN)/python -m pip install -q --upgrade --target .fuzz/lib "atheris>=3"
	PYTHONPATH=.fuzz/lib $(BIN)/python tests/fuzz/fuzz_flow.py .fuzz -max_total_time=600

clean:
	rm -rf .venv .fuzz .stamp* .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
