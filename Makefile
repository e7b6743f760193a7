# `make demo` runs the main job, `make suggest` the chemist's, `make test` makes the quick checks, `make test-all` these
# and the slow ones, `make portable` those of numbers as on other kinds of CPU, `make mutants` whether tests notice a
# flipped sign (PLACE=gntk MINUTES=30), `make size` how large the project is (COMMITS='v1 HEAD'), `make words` counts
# words and foreign patterns of its pages, `make docs` builds the site into site/, `make gallery` draws the pictures of
# the gallery. Each sets up what it needs, with uv if it is installed and reaches its package index, otherwise with pip.

PYTHON ?= python3
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check -qq -c constraints.txt
UV := uv pip install --python $(BIN)/python --quiet -c constraints.txt
UV_ANSWERS = UV_HTTP_RETRIES=0 UV_HTTP_TIMEOUT=5 $(UV) --dry-run --no-cache --no-deps --reinstall --group docs 2>/dev/null
INSTALL = $(if $(shell $(UV_ANSWERS) && echo yes),$(UV),$(PIP))
METADATA := pyproject.toml setup.cfg constraints.txt
NUMERICAL = $(BIN)/pytest -p no:cacheprovider tests/gntk tests/agents tests/graph_bandit_env/rewards
FOREIGN := <(script|img|source|iframe|link|object)[^>]* (src|href|data)="(https?:)?//|(url\(|@import)["'\'' ]*(https?:)?//
PLACE ?= gntk
TESTS ?= tests/$(PLACE)
MINUTES ?= 60

.PHONY: demo suggest test test-all lint types tests slow-tests doors browser portable mutants size words api bench docs gallery
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

# Adapters of heavy libraries, each in an environment of its own that holds nothing else: two gigabytes in .venv-doors,
# made again when the files change that pin its packages; where $CI is set, each is removed after its tests.
DOORS ?= obp optuna botorch ax rliable torchrl rllib sklearn encoders
EXTRAS_optuna := [optuna,chem]
EXTRAS_botorch := [botorch,chem]
EXTRAS_ax := [ax,chem]
EXTRAS_torchrl := [torchrl]
EXTRAS_rllib := [rllib]
EXTRAS_sklearn := [sklearn,chem]
EXTRAS_encoders := [encoders,chem]
ALSO_obp := obp
ALSO_optuna := optunahub
ALSO_rliable := rliable
UNPINNED_rllib := gymnasium # of which RLlib pins a version of its own
TESTS_obp := tests/doors/test_obp.py
TESTS_optuna := tests/graph_bandit_bridges/test_optuna.py tests/doors/test_optuna_hub.py
TESTS_botorch := tests/doors/test_botorch.py tests/doors/test_botorch_choices.py
TESTS_ax := tests/doors/test_ax.py
TESTS_rliable := tests/doors/test_rliable.py
TESTS_encoders := tests/doors/test_encoders.py
TESTS_torchrl := tests/doors/test_torchrl.py
TESTS_rllib := tests/doors/test_rllib.py
TESTS_sklearn := $(wildcard tests/graph_bandit_bridges/scikit_learn/test_*.py)

doors:
	$(MAKE) --no-print-directory --keep-going $(DOORS:%=door-%)

door-%: .venv-doors/%/installed
	.venv-doors/$*/bin/pytest -p no:cacheprovider -o filterwarnings=default \
		-o addopts="-q --import-mode importlib --strict-markers --durations=3" $(TESTS_$*)
	$(if $(CI),rm -rf .venv-doors/$*)

.PRECIOUS: .venv-doors/%/installed
.venv-doors/%/installed: pyproject.toml constraints.txt
	rm -rf .venv-doors/$*
	$(PYTHON) -m venv .venv-doors/$*
	grep -v '^$(or $(strip $(UNPINNED_$*)),none)==' constraints.txt > .venv-doors/$*/constraints.txt
	.venv-doors/$*/bin/python -m pip install --disable-pip-version-check --quiet -c .venv-doors/$*/constraints.txt \
		-e '.$(EXTRAS_$*)' $(ALSO_$*) pytest hypothesis
	touch $@

browser: $(VENV)/.installed-all
	test -n "$$CHROMIUM$$(command -v chromium || command -v chromium-browser || command -v google-chrome)" \
		|| $(BIN)/python -m playwright install chromium

# What a library takes from the environment it takes when it starts, so each kind of CPU has a process of its own.
portable: $(VENV)/.installed-all
	MKL_CBWR=AVX2 $(NUMERICAL)
	ATEN_CPU_CAPABILITY=avx2 $(NUMERICAL)
	MKL_CBWR=COMPATIBLE ATEN_CPU_CAPABILITY=default $(NUMERICAL)
	MKL_CBWR=COMPATIBLE ATEN_CPU_CAPABILITY=default OPENBLAS_CORETYPE=Nehalem NUMBA_CPU_NAME=generic $(NUMERICAL)

# Cosmic Ray changes one file at a time where it stands, and puts it back: run this in a checkout of its own. A run that
# is cut has tested a random sample, and the next one goes on where it stopped, until build/mutants.sqlite is removed.
mutants: $(VENV)/.installed-all
	mkdir -p build
	sed 's,PLACE,$(PLACE),; s,TESTS,$(TESTS),' tests/mutants.toml > build/mutants.toml
	test -e build/mutants.sqlite || $(BIN)/cosmic-ray init build/mutants.toml build/mutants.sqlite
	$(BIN)/cr-filter-operators build/mutants.sqlite build/mutants.toml
	-timeout -s INT $(MINUTES)m $(BIN)/cosmic-ray exec build/mutants.toml build/mutants.sqlite
	$(BIN)/cr-report --show-diff --surviving-only build/mutants.sqlite
	$(BIN)/cr-rate --estimate build/mutants.sqlite

size: $(VENV)/.installed-all
	PYTHONPATH=tests $(BIN)/python -m support.size $(COMMITS)

words: $(VENV)/.installed-all
	PYTHONPATH=tests $(BIN)/python -m support.words $(COMMITS)

api: $(VENV)/.installed-all
	PYTHONPATH=.:tests $(BIN)/python -m support.api

pictures: $(VENV)/.installed-all browser
	PYTHONPATH=tests $(BIN)/python -m support.pictures demo suggest

gallery: $(VENV)/.installed-all
	PYTHONPATH=tests $(BIN)/python -m support.pictures $(basename $(notdir $(wildcard examples/gallery/*.py)))

bench: $(VENV)/.installed-chem
	$(BIN)/python -W ignore -m benchmarks

docs: $(VENV)/.installed-docs
	$(BIN)/sphinx-build -W --keep-going -E -a -q -b html docs site
	! grep -rnE '$(FOREIGN)' site --include=*.html --include=*.css

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
	$(BIN)/graph-bandit example-data --property qed --out runs/molecules

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
