# `make demo` runs the main job, `make suggest` the chemist's, `make test` makes the quick checks, `make test-all` these
# and the slow ones, `make portable` those of numbers as on other kinds of CPU, `make mutants` whether tests notice a
# flipped sign (ARGS="gntk --draw 100"), `make size` how large the project is (COMMITS='v1 HEAD'), `make docs`
# builds the site into site/, `make gallery` draws the pictures of the gallery. Each sets up what it needs, with uv if it
# is installed and reaches its package index, otherwise with pip.

PYTHON ?= python3
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check -qq -c constraints.txt
UV := uv pip install --python $(BIN)/python --quiet -c constraints.txt
UV_ANSWERS = UV_HTTP_RETRIES=0 UV_HTTP_TIMEOUT=5 $(UV) --dry-run --no-cache --no-deps --reinstall --group docs 2>/dev/null
INSTALL = $(if $(shell $(UV_ANSWERS) && echo yes),$(UV),$(PIP))
METADATA := pyproject.toml setup.cfg constraints.txt

.PHONY: demo suggest test test-all lint types tests slow-tests doors browser portable contexts mutants size api bench docs gallery
.PHONY: pictures
.PHONY: release-check clean

demo: $(VENV)/.installed
	$(BIN)/graph-bandit run --agents gnn-ts gp-ucb lin-ts random --num-graphs 300 --num-nodes 5 20 \
		--reward-scale unit --noise-std 1 --horizon 100 --workers 2 --out runs/demo

suggest: runs/molecules/measured.csv
	$(BIN)/graph-bandit suggest runs/molecules/pool.csv --measured runs/molecules/measured.csv --n 8 --maximize qed \
		--out runs/molecules/suggestions.csv --html runs/molecules/suggestions.html

test: lint
	$(MAKE) --no-print-directory -j2 types tests

test-all: test slow-tests

lint: $(VENV)/.installed-all
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-all
	$(BIN)/mypy

tests: $(VENV)/.installed-all
	$(BIN)/pytest -m "not slow"

slow-tests: $(VENV)/.installed-all browser
	$(BIN)/pytest -m slow

doors:
	PYTHONPATH=tests $(PYTHON) -m support.doors $(DOORS)

browser: $(VENV)/.installed-all
	PYTHONPATH=tests $(BIN)/python -m support.browser

portable: $(VENV)/.installed-all
	PYTHONPATH=tests $(BIN)/python -m support.portable

contexts: $(VENV)/.installed-all
	mkdir -p build
	COVERAGE_FILE=build/contexts $(BIN)/pytest -m "not slow" --cov=. --cov-context=test --cov-report= --junitxml=build/contexts.xml

mutants: $(VENV)/.installed-all
	test -e build/contexts || $(MAKE) contexts
	$(BIN)/python -W ignore tests/support/mutants.py $(ARGS)

size: $(VENV)/.installed-all
	PYTHONPATH=tests $(BIN)/python -m support.size $(COMMITS)

api: $(VENV)/.installed-all
	PYTHONPATH=.:tests $(BIN)/python -m support.api

pictures: $(VENV)/.installed-all browser
	PYTHONPATH=tests $(BIN)/python -m support.readme

gallery: $(VENV)/.installed-all
	PYTHONPATH=tests $(BIN)/python -m support.gallery

bench: $(VENV)/.installed-chem
	$(BIN)/python -W ignore -m benchmarks

docs: $(VENV)/.installed-docs
	$(BIN)/sphinx-build -W --keep-going -E -a -q -b html docs site
	PYTHONPATH=tests $(BIN)/python -m support.site site

release-check: $(VENV)/.installed-all
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*

clean:
	rm -rf $(VENV) .venv-doors build dist site docs/reference/*.rst docs/examples/*.rst docs/examples/*.myst *.egg-info uv.lock
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	@test `uname` != Linux \
		|| $(PIP) --no-deps --retries 2 --timeout 5 --index-url $(TORCH_INDEX) torch 2>/dev/null \
		|| echo "$(TORCH_INDEX) does not answer. torch comes from PyPI, with 4 GB for NVIDIA GPUs."

runs/molecules/measured.csv: | $(VENV)/.installed-chem
	$(BIN)/graph-bandit library --property qed --out runs/molecules

$(VENV)/.installed: $(METADATA) | $(BIN)/python
	$(INSTALL) -e .
	touch $@

$(VENV)/.installed-chem: $(METADATA) | $(BIN)/python
	$(INSTALL) -e '.[chem]'
	touch $@ $(VENV)/.installed

$(VENV)/.installed-all: $(METADATA) | $(BIN)/python
	$(INSTALL) 'pip>=25.1' # knows --group
	$(INSTALL) -e '.[all]' --group dev
	touch $@ $(VENV)/.installed $(VENV)/.installed-chem

$(VENV)/.installed-docs: $(VENV)/.installed-all
	$(INSTALL) --group docs
	touch $@
