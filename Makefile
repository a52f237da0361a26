# Each target sets up what it needs in .venv; a second run starts at once.

PYTHON   ?= python3
VENV     := .venv
BIN      := $(VENV)/bin
PIP      := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
DEMO_DIR := demo

# Data sets kept beside the repository are used unless another folder is chosen.
ifndef WAVEMMF_DATA
ifneq ($(wildcard ../shared/data/.),)
export WAVEMMF_DATA := $(abspath ../shared/data)
endif
endif

.DEFAULT_GOAL := help
.PHONY: help demo test lint format type layers unit docs-tests coverage bench bench-scale fuzz torch clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Environments

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e '.[graphs,plot,sklearn]'
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e '.[dev]'
	@touch $@ $(VENV)/.base

$(VENV)/.torch: constraints.txt tools/install_torch.sh $(VENV)/.dev
	tools/install_torch.sh $(BIN)/python
	@touch $@

# For users

demo: $(VENV)/.base ## compare factorizations of the karate club graph, with a picture
	@mkdir -p $(DEMO_DIR)
	$(BIN)/wavemmf compare karate --cores 4,8,16 \
		--plot $(DEMO_DIR)/karate.png --csv $(DEMO_DIR)/karate.csv

# For developers

test: lint type layers unit docs-tests ## everything that must pass

lint: $(VENV)/.dev ## style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/.dev ## repair style and formatting in place
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

type: $(VENV)/.dev ## static types
	$(BIN)/mypy

layers: $(VENV)/.dev ## imports point downwards only
	$(BIN)/lint-imports

# One BLAS thread per test worker, so that two workers do not fight over the cores.
unit docs-tests coverage: export OPENBLAS_NUM_THREADS = 1

# Numba notices a changed file, but not a change in what is inlined from another one.
$(VENV)/.kernels: $(wildcard src/wavemmf/kernels/*.py) | $(BIN)/python
	rm -f src/wavemmf/kernels/__pycache__/*.nb?
	@touch $@

unit docs-tests coverage bench bench-scale: $(VENV)/.kernels

unit: $(VENV)/.torch ## the tests
	$(BIN)/python -m pytest -n 2

docs-tests: $(VENV)/.torch ## the examples in the docstrings
	$(BIN)/python -m pytest --doctest-modules src

coverage: $(VENV)/.torch ## the tests, with the lines they miss
	$(BIN)/python -m pytest -n 2 --cov --cov-report=term

bench: $(VENV)/.torch ## speed, as ratios measured side by side
	$(BIN)/python benchmarks/bench_factorize.py
	$(BIN)/python benchmarks/bench_gradient.py
	$(BIN)/python benchmarks/bench_nodes.py

bench-scale: $(VENV)/.torch ## large sparse graphs and data sets of many graphs (half an hour)
	$(BIN)/python benchmarks/bench_scale.py
	$(BIN)/python benchmarks/bench_many.py

fuzz: $(VENV)/.torch ## damaged and lying files for every reader (up to ten minutes each)
	$(BIN)/python tools/fuzz_readers.py

torch: $(VENV)/.dev ## try again to install torch without CUDA
	tools/install_torch.sh $(BIN)/python
	@touch $(VENV)/.torch

clean: ## remove the environment, the caches and the demo's output
	rm -rf $(VENV) $(DEMO_DIR) build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache .coverage
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
