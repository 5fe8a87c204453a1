# Each target sets itself up: the first run makes .venv, later ones find it ready.
PYTHON ?= python3
VENV ?= .venv
# Five suit two processors: tests wait for stores and for processes of their own as long as they compute.
WORKERS ?= 5
# The tests start hundreds of processes: each would compile the whole source again.
unexport PYTHONDONTWRITEBYTECODE
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
READY := $(VENV)/.ready
SHARED = --numprocesses $(WORKERS) --dist loadgroup --no-loadscope-reorder
# uv installs in 2 seconds of a processor, pip in 20. Where uv does not find the packages, pip's settings may name them.
BY_UV := $(BIN)/uv pip install --quiet --python $(BIN)/python
BY_PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
DEVELOPED := --editable ".[all]" --editable "bench[models,plots]" --group dev

# Another Python, to find what only another version shows: imports, the server over stdio, loading, trails, plans,
# configuration. These need no store but Redis. All tests without a store take four times as long: 7 minutes of
# one processor on Python 3.13, these 70 seconds, and the installation 13.
OTHER_VENV ?= .venv-other
OTHER_TESTS := tests/test_imports.py tests/test_comparison.py tests/test_concurrency.py tests/test_ordering.py \
	tests/config tests/navigation tests/trails tests/cli/test_call.py tests/cli/test_load.py \
	tests/server/test_transport.py \
	tests/adapters/sparql_base/test_client.py \
	$(addprefix tests/adapters/embedded/test_,graphfile.py pool.py) \
	$(addprefix tests/adapters/embedded/test_load_,dot.py guard.py process.py rdf.py tables.py)

# PyTorch from PyPI is built for CUDA on Linux and cannot be imported without its libraries: 6 GB with them.
TRAIN_VENV ?= .venv-train
TRAIN_FOLDER ?= .train-smoke

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-extended fuzz test-other check dist dist-check release audit real-model train-smoke docs clean

help:
	@echo "make demo    answer a question with the demo graph, through a real client"
	@echo "make test    run the tests but those that take long; all of them where CI is set"
	@echo "make test-all    run all tests but the extended ones"
	@echo "make test-extended    run the tests on further engines, with more cases, of whole datasets, and MCP's own"
	@echo "make fuzz    run the tests with random plans, with RANDOM_PLANS=5 times as many plans"
	@echo "make test-other PYTHON=python3.13    run the tests that may differ by version on another Python"
	@echo "make train-smoke    train a tiny model with GraphWalker's recipes on the processor: 6 GB, minutes, not in CI"
	@echo "make check   formatting, lint, types, import rules, generated documentation, file lengths"
	@echo "make dist    wheels, source distributions, the bundle for desktop clients and the registry's entry, in dist"
	@echo "make dist-check    the same, and try the wheel on every Python of this machine"
	@echo "make release    dry run of a release: dist-check, and whether versions, changelog, tag and wheel agree"
	@echo "make audit   compare the answers of every store with the raw files, an hour"
	@echo "make real-model    run every method with a small language model on this machine, half an hour"
	@echo "make docs    rewrite the generated parts of docs, and the pictures"
	@echo "make clean   remove $(VENV) and caches"

$(INSTALLED): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "kgnav-mcp needs Python 3.11 or later; name one: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BY_PIP) "uv>=0.8,<1"
	$(BY_UV) --editable . || $(BY_PIP) --editable .
	@touch $@

$(READY): $(INSTALLED) bench/pyproject.toml
	$(BY_UV) "pip>=25.1" $(DEVELOPED) || { $(BY_PIP) --upgrade "pip>=25.1" && $(BY_PIP) $(DEVELOPED); }
	@touch $@

demo: $(INSTALLED)
	$(BIN)/kgnav demo

test: $(READY)
	$(BIN)/python -m pytest $(SHARED) -m "not extended$(if $(CI),, and not slow)"

test-all: $(READY)
	$(BIN)/python -m pytest $(SHARED)

test-extended: $(READY)
	$(BIN)/python -m pytest $(SHARED) -m extended

fuzz: export RANDOM_PLANS ?= 5
fuzz: $(READY)
	$(BIN)/python -m pytest $(SHARED) -k by_chance tests/contract tests/plans tests/adapters

test-other:
	$(PYTHON) -m venv $(OTHER_VENV)
	$(OTHER_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(OTHER_VENV)/bin/python -m pip install --quiet --editable ".[all]" --editable "bench[models,plots]" --group test
	$(OTHER_VENV)/bin/python -m pytest -q -p no:cacheprovider --numprocesses 2 --dist loadgroup $(OTHER_TESTS)

train-smoke:
	$(PYTHON) -m venv $(TRAIN_VENV)
	$(TRAIN_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(TRAIN_VENV)/bin/python -m pip install --quiet --editable . --editable "bench[train]" --group test
	rm -rf $(TRAIN_FOLDER)
	$(TRAIN_VENV)/bin/python -m scripts.train_smoke $(TRAIN_FOLDER)
	OMP_NUM_THREADS=1 $(TRAIN_VENV)/bin/python -m pytest -q -p no:cacheprovider tests/bench/test_training_trl.py

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright --pythonpath $(BIN)/python --warnings
	$(BIN)/lint-imports
	$(BIN)/python -m scripts.generate_docs --check
	$(BIN)/python scripts/check_lengths.py

dist: $(READY)
	$(BIN)/python -m scripts.release

dist-check: $(READY)
	$(BIN)/python -m scripts.release --check

release: $(READY)
	$(BIN)/python -m scripts.release --check --dry-run

audit: $(READY)
	$(BIN)/python -m scripts.audit

real-model: $(READY)
	$(BIN)/python -m scripts.real_model

docs: $(READY)
	$(BIN)/python -m scripts.generate_docs

clean:
	rm -rf $(VENV) $(OTHER_VENV) $(TRAIN_VENV) $(TRAIN_FOLDER) .real-model .pytest_cache .ruff_cache \
		.import_linter_cache build dist
