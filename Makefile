# Two commands matter: `make run` and `make test`. README explains every target.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: run test check fmt bench bench-peers screenshots lock clean

run: .venv/run.stamp
	@exec $(BIN)/python manage.py run

test: check
	$(BIN)/pytest

check: .venv/dev.stamp
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/python manage.py makemigrations --check --dry-run

fmt: .venv/dev.stamp
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/run.stamp: requirements.lock | .venv/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

.venv/dev.stamp: requirements-dev.lock | .venv/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@touch $@ .venv/run.stamp
