# Every target sets up what it needs in .venv; nothing else has to be installed by hand but Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The pip of $(PYTHON) installs into $(VENV) if it can (since pip 22.3): a pip of its own takes seconds to set up.
MAKE_VENV = test -x $(BIN)/python \
	|| { $(PYTHON) -m venv --without-pip $(VENV) && $(PYTHON) -m pip --python $(BIN)/python --version >/dev/null 2>&1; } \
	|| $(PYTHON) -m venv $(VENV)
PIP = $$(test -x $(BIN)/pip && echo $(BIN)/python -m pip || echo $(PYTHON) -m pip --python $(BIN)/python) \
	install --quiet --disable-pip-version-check -c constraints.txt
# Two workers, because compiled kernels use threads of their own.
WORKERS ?= 2

# Modules are compiled once, not again by every process that a target starts, whatever the environment says.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-full test-first test-minimum test-newest lint bench letor docs site dist clean
.DELETE_ON_ERROR:

demo: $(VENV)/demo
	$(BIN)/python examples/demo.py

test: $(VENV)/test
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

test-full: $(VENV)/test
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --run-full

# Scores of every ranker in the process that compiles and in a later one.
test-first: $(VENV)/test
	$(BIN)/python -m pytest --run-full tests/_kernels/test_first_process.py

# The lowest versions of everything that pyproject.toml admits, in an environment of their own.
MINIMUM := .venv-minimum
test-minimum: $(MINIMUM)/test
	$(MINIMUM)/bin/python -m pytest tests/cli tests/data tests/test_ids.py tests/_files/test_storage.py tests/rankers/test_toolkits.py

# The newest releases of everything, in an environment of their own that is brought up to date each time.
NEWEST := .venv-newest
test-newest:
	@test -x $(NEWEST)/bin/python || $(PYTHON) -m venv $(NEWEST)
	@$(NEWEST)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade --upgrade-strategy eager \
		-e ".[test,neural,report,static,text,serve,cluster,export]"
	$(NEWEST)/bin/python -m pytest -n $(WORKERS) --dist loadfile

lint: $(VENV)/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/bench
	$(BIN)/python benchmarks/run.py

# The LETOR benchmark (hours): make letor DATA=folder of the LETOR sets. It goes on where it was stopped.
letor: $(VENV)/test
	$(BIN)/python benchmarks/letor.py --write $(if $(DATA),--data $(DATA))

docs: $(VENV)/core
	$(BIN)/python tools/catalogue.py
	$(BIN)/python tools/theory_tables.py

# The documentation site, in out/site. Open out/site/index.html; the search needs a server: $(BIN)/mkdocs serve.
site: $(VENV)/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "The site is in out/site: open out/site/index.html"

# Source distribution and wheel, in dist/. The wheel is built from the source distribution, goes into a fresh
# environment without the sources, and has to work there.
DIST := out/dist-venv
dist: $(VENV)/dist
	rm -rf dist $(DIST)
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m venv $(DIST)
	$(DIST)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt dist/*.whl
	cd $(DIST) && bin/python -I $(CURDIR)/tools/smoke.py

clean:
	rm -rf $(VENV) $(MINIMUM) $(NEWEST) out dist

$(VENV)/core: pyproject.toml constraints.txt
	@echo "Setting up $(VENV) (once, about a minute) …"
	@$(MAKE_VENV)
	@$(PIP) -e .
	@touch $@

# The demo and the tests are set up by one run of pip, which is also all that $(VENV)/core needs. Without --no-compile it
# would take twice as long; Python compiles the modules that it imports.
# The demo needs a stemmer, not the readers of file formats that the extra text also brings.
$(VENV)/demo: pyproject.toml constraints.txt
	@echo "Setting up $(VENV) (once, about a minute) …"
	@$(MAKE_VENV)
	@$(PIP) --no-compile -e ".[report,serve]" PyStemmer
	@touch $(VENV)/core $@

$(VENV)/test: pyproject.toml constraints.txt
	@echo "Setting up $(VENV) (once, about a minute) …"
	@$(MAKE_VENV)
	@$(PIP) --no-compile -e ".[test,neural,report,static,text,serve,cluster,export]"
	@touch $(VENV)/core $@

$(VENV)/docs: $(VENV)/core
	@$(PIP) -e ".[docs]"
	@touch $@

$(VENV)/dist: $(VENV)/core
	@$(PIP) -e ".[dist]"
	@touch $@

$(VENV)/bench: $(VENV)/core
	@$(PIP) -e ".[bench]"
	@touch $@

$(MINIMUM)/test: pyproject.toml constraints-minimum.txt
	@echo "Setting up $(MINIMUM) (once, some minutes) …"
	@test -x $(MINIMUM)/bin/python || python3.11 -m venv $(MINIMUM)
	@$(MINIMUM)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints-minimum.txt \
		-e ".[report,pandas,zstd]" pytest hypothesis
	@touch $@
