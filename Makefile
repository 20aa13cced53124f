# The two commands a newcomer needs are `make demo` and `make test`; each does its own set-up.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --use-pep517
RUNS := .venv/.runs
TESTS_RUN := .venv/.tests-run

.PHONY: demo test lint docs bench clean

demo: $(RUNS)
	$(BIN)/sledwarden demo $(DEMO)

test: lint
	$(BIN)/pytest -n auto $(TESTS)

lint: $(TESTS_RUN)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(RUNS)
	$(BIN)/python -m host_tools.config_reference > docs/config.md.new
	mv docs/config.md.new docs/config.md
	$(BIN)/python -m host_tools.law_reference > docs/law.md.new
	mv docs/law.md.new docs/law.md
	$(BIN)/python -m host_tools.law_reference --checked > checked.new
	mv checked.new firmware/laws/checked.sha256

bench: $(TESTS_RUN)
	$(BIN)/python -m bench

clean:
	rm -rf .venv build dist *.egg-info demo-ride

# What a unit and a desk need; made anew when the list of libraries changes
$(RUNS): setup.cfg pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("sledwarden needs Python 3.11 or newer; this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv .venv
	$(PIP) --editable '.[unit,host]'
	@touch $@

# What the tests need besides
$(TESTS_RUN): $(RUNS)
	$(PIP) --editable '.[unit,host,test]'
	@touch $@
