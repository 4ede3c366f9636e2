# Each target sets up what it needs on a machine that has Python 3.11, 3.12 or 3.13 and nothing else.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:
MAKEFLAGS += --no-builtin-rules
.PHONY: help demo test check lab browser bench soak clean

# The interpreter of version $(1): on PATH, else the newest that pyenv holds.
is = import sys; sys.exit(sys.version_info[:2] != tuple(map(int, "$(1)".split("."))))
interpreter = $(shell for p in python$(1) python3 python \
    $$(ls -d "$$(pyenv root 2>/dev/null)"/versions/$(1).*/bin/python 2>/dev/null | sort -rV); do \
    "$$p" -c '$(is)' 2>/dev/null && { command -v "$$p"; break; }; done)

PYTHON_3.11 := $(call interpreter,3.11)
PYTHON_3.12 := $(call interpreter,3.12)
PYTHON_3.13 := $(call interpreter,3.13)
FOUND := $(foreach v,3.11 3.12 3.13,$(if $(PYTHON_$(v)),$(v)))

# `make PYTHON=/path/to/python` starts from another one.
ifdef PYTHON
  VERSION := $(shell "$(PYTHON)" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  PYTHON_$(VERSION) := $(PYTHON)
else
  VERSION := $(firstword $(FOUND))
endif
OTHERS := $(filter-out $(VERSION),$(FOUND))

# An environment is fresh while its stamp is newer than what it was made from. The stamp carries
# the version, so a change of interpreter makes the environment anew.
define environment
$(1)/.%-$(2): pyproject.toml constraints.txt
	$$(call have-venv,$(2))
	"$(1)/bin/python" -c 'import pip; $(call is,$(2))' 2>/dev/null \
	  || "$(PYTHON_$(2))" -m venv --clear "$(1)"
	"$(1)/bin/python" -m pip install -qq --disable-pip-version-check \
	  -c constraints.txt --editable '.$$(if $$(filter-out demo,$$*),[$$*])'
	@echo "$(1): Python $(2), $$$$($(1)/bin/python -m pip list 2>/dev/null | tail -n +3 | wc -l) packages"
	@touch "$$@"
endef

# Debian keeps this part of the standard library in a package of its own.
define have-venv
	@"$(PYTHON_$(1))" -c 'import ensurepip, venv' 2>/dev/null || { \
	  command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] \
	    || { echo "Python $(1) lacks its venv module: install the package python$(1)-venv"; exit 1; }; \
	  apt-get update -qq && apt-get install -qq --no-install-recommends "python$(1)-venv"; }
endef

$(eval $(call environment,.venv,$(VERSION)))
$(foreach v,$(OTHERS),$(eval $(call environment,.venv-$(v),$(v))))

ifeq ($(VERSION),)
  $(info No Python 3.11, 3.12 or 3.13 on PATH or in pyenv. On Debian: apt-get install python3 python3-venv)
  $(error no Python to start from)
endif
BIN := .venv/bin
DEMO := .venv/.demo-$(VERSION)
TEST := .venv/.test-$(VERSION)
LAB := .venv/.lab-$(VERSION)
KERNEL_6 := .ipykernel6/.installed
NOTEBOOK := notebooks/01_polling.ipynb

# The Lab's page is built by the machine's Node, or else by one from PyPI in the environment.
NODE := $(shell node -e 'process.exit(+(parseInt(process.versions.node) < 20))' 2>/dev/null \
    && command -v npm)
ifeq ($(NODE),)
  NODE_STAMP := .venv/.page-$(VERSION)
  export PATH := $(CURDIR)/.venv/bin:$(PATH)
endif
MODULES := widgets/node_modules/.package-lock.json
PAGE := dexnb/widgets/static/lab.js

help:
	@echo "make demo   watch a Flow wait for a job, here in the terminal; it ends by itself"
	@echo "make test   lint, types, contracts; every test on Python $(VERSION), unit tests on: $(or $(OTHERS),no other found)"
	@echo "make check  lint, types and contracts only"
	@echo "make lab    JupyterLab on the first tutorial"
	@echo "make bench  figures and ratios, beside dbos and duroxide"
	@echo "make soak   long proof"
	@echo "make clean  remove environments, caches and builds"

demo: $(DEMO)
	$(BIN)/python -m dexnb run dexnb.examples.polling:PollingFlow --serve-jobs

$(MODULES): widgets/package-lock.json widgets/package.json | $(NODE_STAMP)
	cd widgets && npm ci --no-progress
	@touch "$@"

$(PAGE): $(MODULES) widgets/build.mjs $(shell find widgets/src -type f)
	cd widgets && npm run --silent build
	@touch "$@"

check: $(TEST) $(MODULES)
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/lint-imports
	$(BIN)/python -m interrogate dexnb
	$(BIN)/dexnb lint --strict dexnb/examples notebooks
	cd widgets && npm run --silent check

# Tests that judge real time run alone and print their figures.
EVERY := not soak and not bench and not ui
UNIT := $(EVERY) and not slow and not external and not timing
pytest = $(1)/bin/python -m pytest

test: check $(PAGE) test-$(VERSION) $(OTHERS:%=test-%)

.PHONY: test-$(VERSION) $(OTHERS:%=test-%)
test-$(VERSION): $(TEST) $(PAGE) $(KERNEL_6) browser
	cd widgets && npm test --silent
	$(call pytest,.venv) -s -m "timing and $(EVERY)"
	$(call pytest,.venv) -n 2 -m "not timing and $(EVERY)"
	$(call pytest,.venv) -m ui -s -p no:randomly --durations=5
	$(call pytest,.venv) --nbval notebooks --nbval-cell-timeout=60 -p no:randomly --durations=3

# The kernel of before comms had threads, in a folder that its tests put before the environment.
$(KERNEL_6): | $(TEST)
	$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --upgrade \
	  --target .ipykernel6 'ipykernel==6.31.*' && touch "$@" \
	  || echo "No ipykernel 6.31 from here: its tests will be skipped"

# Tests of the page in a browser take any Chromium; without one they are skipped.
browser:
	@command -v chromium chromium-browser google-chrome >/dev/null || { \
	  command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] \
	    && apt-get update -qq && apt-get install -qq --no-install-recommends chromium; } \
	  || echo "No Chromium here: tests in a browser will be skipped"

$(foreach v,$(OTHERS),$(eval test-$(v): .venv-$(v)/.test-$(v)))
$(OTHERS:%=test-%): test-%:
	$(call pytest,.venv-$*) -n 2 -m "$(UNIT)"

# Each peer has an environment of its own, on the newest Python here; `make bench ASK=--quick`.
NEWEST := $(or $(lastword $(FOUND)),$(VERSION))
BENCH := $(foreach p,dexnb dbos duroxide,.bench/$(p)/.made-$(NEWEST))
$(BENCH): .bench/%/.made-$(NEWEST): tests/bench/requirements/%.txt constraints.txt pyproject.toml
	$(call have-venv,$(NEWEST))
	"$(PYTHON_$(NEWEST))" -m tests.bench.place $*
	@touch "$@"

bench: $(TEST) $(BENCH)
	$(BIN)/python -m tests.bench $(ASK)
	$(if $(findstring --only,$(ASK)),,$(BIN)/python -m pytest -m bench -s -p no:randomly --timeout=900)

soak: $(TEST)
	$(BIN)/python -m pytest -m soak -s -p no:randomly --timeout=14400

# JupyterLab would ask in a corner whether it may fetch news.
lab: $(LAB) $(PAGE)
	$(BIN)/python -m jupyter labextension disable --level=sys_prefix \
	  @jupyterlab/apputils-extension:announcements 2>/dev/null
	$(BIN)/python -m jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) --ip=127.0.0.1 \
	  --LabApp.default_url=/lab/tree/$(NOTEBOOK)

clean:
	rm -rf .venv .venv-3.* .bench .ipykernel6 build dist dexnb/widgets/static widgets/node_modules
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -not -path './.git/*' -prune -exec rm -rf {} +
