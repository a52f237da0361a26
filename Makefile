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
.PHONY: help demo test announcement lint format type layers unit docs-tests docs coverage fuzz fuzz-guided mutants soak faults dist audit bench bench-scale results results-renew results-render torch clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Environments

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing wavemmf and what it needs into $(VENV), once (about a minute)" >&2
	$(PIP) -e '.[graphs,plot,sklearn]'
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing the development tools into $(VENV), once (about a minute)" >&2
	$(PIP) -e '.[dev]'
	@touch $@ $(VENV)/.base

$(VENV)/.torch: constraints.txt tools/install_torch.sh $(VENV)/.dev
	tools/install_torch.sh $(BIN)/python
	@touch $@

# A browser for the tests of reports; without one they are skipped.
$(VENV)/.browser: tools/install_browser.sh | $(BIN)/python
	tools/install_browser.sh
	@touch $@

# For users

demo: $(VENV)/.base ## compare factorizations of the karate club graph, and look at one
	@echo "factorizing the karate club graph; the first run compiles the kernels (one to two minutes)" >&2
	@mkdir -p $(DEMO_DIR)
	$(BIN)/wavemmf compare karate --cores 4,8,16 \
		--plot $(DEMO_DIR)/karate.png --csv $(DEMO_DIR)/karate.csv
	$(BIN)/wavemmf factorize karate --core 8 --k 8 --optimize lbfgs -o $(DEMO_DIR)/karate.mmf >/dev/null
	$(BIN)/wavemmf report $(DEMO_DIR)/karate.mmf --graph karate -o $(DEMO_DIR)/report.html

# For developers

# What uses one core runs beside something else. Types are checked before torch is there: with it
# mypy would read all of torch too.
test: announcement ## everything that must pass
	$(MAKE) $(VENV)/.dev
	$(MAKE) -j2 lint type layers $(VENV)/.kernels
	$(MAKE) -j2 $(VENV)/.torch $(VENV)/.browser
	$(MAKE) unit
	$(MAKE) -j2 docs-tests docs

announcement:
	@echo "make test: about ten minutes on two cores, and a few more the first time" >&2

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
unit docs-tests docs coverage: export OPENBLAS_NUM_THREADS = 1

# Compiled once, in parallel: two test workers would compile the same kernels at the same time.
$(VENV)/.kernels: $(wildcard src/wavemmf/kernels/*.py) $(VENV)/.dev
	$(BIN)/wavemmf warmup
	@touch $@

unit docs-tests coverage bench bench-scale: $(VENV)/.kernels

unit: $(VENV)/.torch $(VENV)/.browser ## the tests
	$(BIN)/python -m pytest -n 2

docs-tests: $(VENV)/.torch ## the examples in the docstrings
	$(BIN)/python -m pytest --doctest-modules src

# Runs every example; warnings are errors. Half of the pages need torch.
docs: $(VENV)/.torch $(VENV)/.kernels ## the documentation with all examples, in docs/_build/html
	@$(BIN)/python -c 'import torch, torch_geometric' 2>/dev/null || \
		{ echo "no documentation: torch could not be installed here" >&2; exit 0; }; \
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html && \
	cd docs/_build && ../../$(BIN)/python -m pytest -q -c ../../pyproject.toml --doctest-glob='*.md' ../tutorial*.md

coverage: $(VENV)/.torch $(VENV)/.browser ## the tests, with the lines they miss
	$(BIN)/python -m pytest -n 2 --cov --cov-report=term

soak: $(VENV)/.torch $(VENV)/.kernels ## random cases through the public functions, for 20 minutes
	$(BIN)/python tools/soak.py --minutes 20

faults: $(VENV)/.torch $(VENV)/.kernels ## kill long commands at 50 random moments (20 minutes)
	$(BIN)/python tools/kill_tests.py --kills 50

$(VENV)/.release: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e '.[release]'
	@touch $@

dist: $(VENV)/.release ## wheel, sdist and list of components (SBOM) in dist/, checked and installed
	rm -rf dist build
	$(BIN)/python -m build --outdir dist .
	$(BIN)/twine check --strict dist/*.whl dist/*.tar.gz
	$(BIN)/cyclonedx-py requirements constraints.txt --of JSON -o dist/sbom.json
	$(PYTHON) -m venv --clear build/fresh
	build/fresh/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt dist/*.whl
	cd build && fresh/bin/wavemmf factorize karate --core 10 --k 4 -o fresh/karate.mmf

audit: $(VENV)/.release ## known vulnerabilities of the pinned versions (asks a public service)
	$(BIN)/pip-audit --no-deps --disable-pip -r constraints.txt

bench: $(VENV)/.torch ## speed, as ratios measured side by side
	$(BIN)/python benchmarks/bench_factorize.py
	$(BIN)/python benchmarks/bench_gradient.py
	$(BIN)/python benchmarks/bench_nodes.py

bench-scale: $(VENV)/.torch ## large sparse graphs and data sets of many graphs (half an hour)
	$(BIN)/python benchmarks/bench_scale.py
	$(BIN)/python benchmarks/bench_hubs.py
	$(BIN)/python benchmarks/bench_many.py

results: $(VENV)/.torch ## records that are older than the code they measured
	$(BIN)/python tools/results.py

results-renew: $(VENV)/.torch $(VENV)/.kernels ## measure again: make results-renew NAME=closed-form
	$(BIN)/python tools/results.py renew $(NAME)

results-render: $(VENV)/.torch ## write the tables of README and docs from their records
	$(BIN)/python tools/results.py render

fuzz: $(VENV)/.torch ## damaged and lying files for every reader (up to ten minutes each)
	$(BIN)/python tools/fuzz_readers.py

fuzz-guided: $(VENV)/.torch ## the same guided by the code that is reached (atheris, two minutes each)
	$(PIP) atheris
	$(BIN)/python tools/fuzz_guided.py

mutants: $(VENV)/.torch $(VENV)/.kernels ## do the tests notice small changes in the source?
	$(BIN)/python tools/mutants.py factorization
	NUMBA_DISABLE_JIT=1 $(BIN)/python tools/mutants.py kernels

torch: $(VENV)/.dev ## try again to install torch without CUDA
	tools/install_torch.sh $(BIN)/python
	@touch $(VENV)/.torch

clean: ## remove the environment, the caches and the demo's output
	rm -rf $(VENV) $(DEMO_DIR) docs/_build docs/gallery docs/api/generated build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache .coverage
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
