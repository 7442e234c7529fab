.DEFAULT_GOAL := help
.PHONY: help demo test oldest bench lint format lock clean

# The first interpreter that runs and is new enough; `make PYTHON=...` names another.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$python && break; done)

# The demo installs about a third of what development needs.
VENV ?= .venv
DEMO_VENV ?= .venv-demo
OLDEST_VENV ?= .venv-oldest
BIN = $(VENV)/bin

define bootstrap
@test -n "$(PYTHON)" || { echo "abreast needs Python 3.11 or newer; none found. Install one, or: make PYTHON=/path/to/python3" >&2; exit 1; }
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo "abreast needs Python 3.11 or newer; $(PYTHON) is none. Name another: make PYTHON=/path/to/python3" >&2; exit 1; }
@$(PYTHON) .ci/bootstrap.py $(1) $(2)
endef

help: ## Show this list.
	@sed -n 's/^\([a-z]*\):.*## /  make \1	/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16

demo: ## Run the story of conversations, screens and jobs on one workspace, on SQLite.
	$(call bootstrap,$(DEMO_VENV),requirements/demo.txt)
	@$(DEMO_VENV)/bin/abreast demo story

test: venv ## Run the tests, two at a time; ARGS="..." goes to pytest.
	@$(BIN)/python -m pytest -n 2 $(ARGS)

oldest: venv ## Run the tests on SQLite with the oldest SQLAlchemy and Alembic; ARGS="..." as above.
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(OLDEST_VENV)
	@$(BIN)/uv pip install --quiet --python $(OLDEST_VENV)/bin/python --no-verify-hashes \
		--overrides requirements/oldest.txt -r requirements/dev.txt
	@$(BIN)/uv pip install --quiet --python $(OLDEST_VENV)/bin/python --no-deps --no-build-isolation --editable .
	@$(OLDEST_VENV)/bin/python -m pytest -n 2 -m "not external" tests/contract tests/unit tests/migration $(ARGS)

bench: venv ## Run the benchmarks; ARGS="..." goes to them.
	@$(BIN)/python -m benchmarks $(ARGS)

lint: venv ## Check format, style, types and layers.
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/pyright
	@$(BIN)/lint-imports

format: venv ## Format the code and mend what ruff can mend.
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

.PHONY: venv
venv: ## Make the development environment.
	$(call bootstrap,$(VENV),requirements/dev.txt)

# One resolution for every supported Python; the smaller locks are constrained to it.
# uv.lock is not used: it records the address of the registry for every file.
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock"

lock: venv ## Resolve the dependencies again; ARGS="--upgrade" takes newer ones.
	@$(COMPILE) $(ARGS) --all-extras --group dev pyproject.toml -o requirements/dev.txt
	@$(COMPILE) -c requirements/dev.txt --extra cli --extra langchain --extra langgraph --extra sqlite \
		--group build pyproject.toml -o requirements/demo.txt
	@echo uv | $(COMPILE) -c requirements/dev.txt - -o requirements/uv.txt

clean: ## Remove the environments and everything made by tools.
	@rm -rf $(VENV) $(VENV).lock $(DEMO_VENV) $(DEMO_VENV).lock $(OLDEST_VENV) build dist .coverage* htmlcov
	@rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	@find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
