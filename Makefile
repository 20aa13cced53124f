# The two commands a newcomer needs are `make demo` and `make test`; each does its own set-up.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test lint bench clean

demo: $(READY)
	$(BIN)/sledwarden demo $(DEMO)

test: lint
	$(BIN)/pytest -n auto $(TESTS)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(READY)
	$(BIN)/python -m bench

clean:
	rm -rf .venv build dist *.egg-info demo-ride

$(READY): setup.cfg pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("sledwarden needs Python 3.11 or newer; this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[unit,host,test]'
	@touch $(READY)
