# make demo | test | serve | lint | audit | bench NAME=…    Each makes the environment first, if need be.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test serve lint audit bench env clean
.DELETE_ON_ERROR:

env: $(STAMP)

$(STAMP): pyproject.toml deploy/requirements.lock deploy/bootstrap.lock
	@test -n "$(PYTHON)" || { echo "Voicegraph needs Python 3.11, 3.12 or 3.13; none was found. Say which: make PYTHON=/path/to/python" >&2; exit 1; }
	@echo "Making $(VENV) with $(PYTHON); the first time this fetches about 4 GB and takes 7 GB of disk." >&2
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes --only-binary :all: -r deploy/bootstrap.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes --build-constraints deploy/bootstrap.lock -r deploy/requirements.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	touch $@

demo: $(STAMP)
	@$(BIN)/voicegraph demo $(ARGS)

serve: $(STAMP)
	$(BIN)/voicegraph serve $(ARGS)

PROCESSES ?= 2
test: $(STAMP)
	$(BIN)/python -m pytest -n $(PROCESSES) $(ARGS)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

audit: $(STAMP)
	$(BIN)/python deploy/audit.py $(ARGS)

NAME ?= identity
bench: $(STAMP)
	$(BIN)/python -m tests.bench.$(NAME) $(if $(QUICK),--quick) $(if $(JSON),--json $(JSON)) $(if $(ENCODER),--encoder $(ENCODER)) $(if $(WEIGHTS),--weights $(WEIGHTS)) $(ARGS)

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache
