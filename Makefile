# Three commands matter: `make run`, `make quick`, and `make test`. CONTRIBUTING.md explains every target.
PYTHON ?= python3
BIN := .venv/bin
LOCALES := $(addprefix --locale=,de es fr zh_Hans)

.PHONY: run test quick test-all test-postgresql test-container test-cluster check fmt wheel release audit bench bench-peers soak power-cuts mutants screenshots messages lock

run: .venv/run.stamp
	@exec $(BIN)/python manage.py run

# The quick tests, the checks, and one real run for each promise, in twelve minutes.
test: .venv/dev.stamp node_modules/dev.stamp
	@exec $(BIN)/python -m tests.phases test

# Everything, in an hour. Run as root: other users may neither build a container nor cut a disk's power.
test-all: .venv/dev.stamp node_modules/dev.stamp
	@exec $(BIN)/python -m tests.phases all

quick: .venv/dev.stamp
	$(BIN)/python -m pytest --quiet --numprocesses 4 --tier quick

test-postgresql: .venv/dev.stamp
	$(BIN)/python -m tests.postgresql

# Run as root. The first run makes a base image from Debian's packages, in some minutes.
test-container: .venv/dev.stamp
	$(BIN)/python -m pytest -m container tests/fresh

# Run as root, for ten minutes: it kills each part of a cluster during each operation.
test-cluster: .venv/dev.stamp
	$(BIN)/python -m pytest tests/cluster

# The four parts can run side by side: `make -j2 check`.
check: check-style check-types check-scripts check-documents
.PHONY: check-style check-types check-scripts check-documents

check-style: .venv/dev.stamp
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/lint-imports
	$(BIN)/python manage.py makemigrations --check --dry-run

check-types: .venv/dev.stamp
	$(BIN)/mypy

check-scripts: node_modules/dev.stamp
	node_modules/.bin/biome check --error-on-warnings
	node_modules/.bin/tsc
	node --test --test-reporter dot tests/js/*.test.js

check-documents: .venv/dev.stamp
	$(BIN)/python -m pytest --quiet tests/test_docs.py tests/test_tree.py tests/test_size.py tests/test_dependencies.py

fmt: .venv/dev.stamp node_modules/dev.stamp
	$(BIN)/ruff format
	$(BIN)/ruff check --fix
	node_modules/.bin/biome check --write

wheel: .venv/dev.stamp
	$(BIN)/python -m hatchling build --target wheel

# Needs Debian's packages buildah and mmdebstrap. The first run makes a base image, in some minutes.
release: .venv/dev.stamp
	$(BIN)/python -m release

# Compare the locks with a copy of an advisory database: `make audit ADVISORIES=all.zip`, from OSV.
audit: .venv/dev.stamp
	$(BIN)/python -m release.audit $(ADVISORIES)

bench: .venv/dev.stamp
	$(BIN)/python -m lab.bench

bench-peers: .venv/dev.stamp
	$(BIN)/python -m lab.bench.peers

soak: .venv/dev.stamp
	$(BIN)/python -m lab.soak

# Run as root: no one else may create a loop device and cut its power.
power-cuts: .venv/dev.stamp
	$(BIN)/python -m lab.powercuts

mutants: .venv/dev.stamp
	$(BIN)/python -m lab.mutants

screenshots: .venv/dev.stamp
	DJANGO_SETTINGS_MODULE=config.settings $(BIN)/python -m tests.browser.screenshots

messages: .venv/dev.stamp
	$(BIN)/python manage.py makemessages $(LOCALES) --no-location --no-obsolete \
		--ignore .venv --ignore .peers --ignore data --ignore node_modules --ignore lab --ignore tests
	$(BIN)/python manage.py compilemessages $(LOCALES) --ignore .venv --ignore .peers --ignore data

lock: .venv/bin/python
	uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-header --output-file requirements.lock
	uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-header --extra cluster --group dev --constraint requirements.lock \
		--output-file requirements-dev.lock
	uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-header --extra cluster --constraint requirements-dev.lock \
		--output-file requirements-cluster.lock
	echo hatchling | uv pip compile - --quiet --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-header --constraint requirements-dev.lock \
		--output-file requirements-build.lock
	folder=$$(mktemp --directory) && $(BIN)/python -m pip download --quiet --dest $$folder \
		--python-version 3.13 --platform manylinux_2_17_aarch64 --platform manylinux_2_28_aarch64 \
		--only-binary :all: --require-hashes --requirement requirements.lock && \
		(cd $$folder && sha256sum *) >release/arm64.sums && rm -r $$folder

.venv/bin/python:
	$(PYTHON) -m venv --clear .venv || { rm -rf .venv; exit 1; }

.venv/run.stamp: requirements.lock | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

.venv/dev.stamp: requirements-dev.lock | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@touch $@ .venv/run.stamp

node_modules/dev.stamp: package-lock.json
	npm ci --silent --ignore-scripts
	@touch $@
