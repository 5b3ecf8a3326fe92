# make demo      the practice workspace with the real bot, in your browser
# make test      all tests that need no GPU and no real engine
# make check     layers, lint, types
# make payloads  render every Slack message with its example values into build/payloads/
# make test-engine, make bench-measure   real vLLM and llama-server on the CPU (slow, large)
# make bench     benchmarks (ratios and figures, no verdict)
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PYTEST_ARGS ?=

.PHONY: demo test check format payloads test-engine bench bench-measure lock clean

# pip installs the locked versions by hash; the project itself is installed in place
$(VENV)/.installed: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Relaunch needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV); this takes a minute or two, once."
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

demo: $(VENV)/.installed
	$(BIN)/relaunch practice

test: $(VENV)/.installed
	bash tests/rig/packages
	$(BIN)/python -m pytest -n 2 tests/unit tests/contract $(PYTEST_ARGS)
	$(BIN)/python -m pytest -n 2 --dist loadscope --no-loadscope-reorder tests/acceptance tests/browser tests/integration $(PYTEST_ARGS)

check: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy

format: $(VENV)/.installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

payloads: $(VENV)/.installed
	$(BIN)/python -m tests.payloads build/payloads

test-engine: $(VENV)/.installed
	bash tests/rig/packages
	$(BIN)/python -m pytest -m engine tests/engines $(PYTEST_ARGS)

bench-measure: $(VENV)/.installed
	$(BIN)/python tests/benchmarks/bench_measure.py

bench: $(VENV)/.installed
	for file in tests/benchmarks/bench_[a-z]*.py; do case $$file in *bench_measure*) ;; *) $(BIN)/python $$file || exit 1;; esac; done

lock:
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --all-extras --generate-hashes --no-emit-index-url --no-header --no-annotate pyproject.toml -o requirements.lock

clean:
	rm -rf build dist $(VENV)
