# Two commands: `make demo` and `make test`.  Everything lives in .venv.
PYTHON ?= python3
BIN := .venv/bin
CAMPAIGN := crash race fuzz determinism oracle people series memory soak load coverage mutation
SUITES := malformed canary
SOURCES := pyproject.toml CMakeLists.txt $(wildcard src/kech/_kernels/*)

.PHONY: demo test test-long test-spark spark dbt lint package wheels wheel-test bench judges docs examples pictures screenshots browser second-library sanitize clean compiler $(CAMPAIGN) $(SUITES) reliability
.DEFAULT_GOAL := demo

demo: .venv/installed
	$(BIN)/kech demo

CODE := src tests benchmarks campaign docs wheels
LINT := $(BIN)/ruff format --check -q $(CODE) && $(BIN)/ruff check -q $(CODE) && $(BIN)/mypy

# Three workers share two cores, so libraries start no threads of their own.
ALONE := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 POLARS_MAX_THREADS=1 PYTHONDONTWRITEBYTECODE=
SUITE := $(ALONE) $(BIN)/python -m pytest -q -n 3 --dist worksteal
test: .venv/tested
	@{ $(LINT); } & linted=$$!; $(SUITE); tested=$$?; wait $$linted && exit $$tested

# Further seeds and all examples of laws that `make test` begins with, and what takes seconds of its own.
test-long: .venv/documented .venv-pycanon/installed
	$(SUITE) -m "long or hypothesis" --all-examples

# The suite of the engines on Spark, in an environment of its own: in threads, and on a cluster of one worker.
# Where Java or pyspark cannot be had, that is said, and nothing is tested.
ON_SPARK := .venv-spark/bin/python -m pytest -q tests/test_engines.py tests/test_databases.py tests/test_spark.py -k
JAVA := $(if $(JAVA_HOME),$(JAVA_HOME)/bin/)java
HAS_JAVA := $(JAVA) -version 2>&1 | grep -Eq 'version "(1[7-9]|[2-9][0-9])'
test-spark:
	@if ! $(HAS_JAVA); then \
	  echo "Java 17 or newer is not installed: tests on Spark are skipped."; \
	elif ! $(MAKE) -s .venv-spark/pyspark; then \
	  echo "pyspark could not be installed: tests on Spark are skipped."; \
	else \
	  $(MAKE) -s .venv-spark/installed && \
	  { $(ON_SPARK) "spark and not cluster" & in_threads=$$!; $(ON_SPARK) cluster; on_cluster=$$?; wait $$in_threads && exit $$on_cluster; }; \
	fi

lint: .venv/tested
	$(LINT)

# A source distribution and a wheel, built, installed and used in fresh environments.
package: .venv/tested
	$(BIN)/python -m pytest -q -m package tests/test_package.py

# Wheels for Linux in dist/, compiled by zig for machines of 2014 and later, and judged; some of them:
# make wheels OPTIONS="--only 'python3.11 manylinux_2_17_x86_64'"
wheels: .venv-wheels/installed
	.venv-wheels/bin/python wheels/build.py $(OPTIONS)

# The wheel for $(PYTHON) in a new environment whose PATH has no compiler, under the tests of the core.
BARE := .venv-wheels/bare
wheel-test:
	$(PYTHON) -m venv --clear $(BARE)
	$(BARE)/bin/python -m pip install -q --disable-pip-version-check -r requirements/core.txt -c requirements/test.txt pytest hypothesis
	$(BARE)/bin/python -m pip install -q --disable-pip-version-check --no-index --no-deps --find-links dist kech
	env -i HOME="$$HOME" PATH=$(abspath $(BARE)/bin) $(BARE)/bin/python wheels/test.py --bare

bench: .venv/tested
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/topology.py --cap 120
	$(BIN)/python benchmarks/lattice.py
	$(BIN)/python benchmarks/zigzag.py
	$(BIN)/python benchmarks/limits.py
	$(BIN)/python benchmarks/shapes.py
	$(BIN)/python benchmarks/profiles.py
	$(BIN)/python benchmarks/holes.py --cap 240
	$(BIN)/python benchmarks/loss.py
	$(BIN)/python benchmarks/targets.py
	$(BIN)/python benchmarks/attacks.py
	$(BIN)/python benchmarks/people.py
	$(BIN)/python benchmarks/roles.py
	$(BIN)/python benchmarks/series.py
	$(BIN)/python benchmarks/rekeyed.py
	$(BIN)/python -m benchmarks.public

# The manual as a site; a warning of Sphinx is an error.
docs: .venv/documented
	$(BIN)/python -m sphinx -q -W --keep-going -d build/doctrees docs build/site
	@echo "Open build/site/index.html"

# What commands print in the manual and what notebooks show, written down anew.
examples: .venv/tested
	$(BIN)/python docs/_code/examples.py
	$(BIN)/python docs/_code/cells.py

pictures: .venv/tested
	$(BIN)/python docs/pictures/draw.py

# What tests/test_studio_browser.py needs: Chromium, Playwright, and axe-core in a folder that is not committed.
# Whatever cannot be had is said, and the tests that need it are skipped.
AXE := .browser/node_modules/axe-core/axe.min.js
browser: .venv/tested
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null \
	  || { apt-get update -q && apt-get install -qy --no-install-recommends chromium; } \
	  || echo "No Chromium could be installed: tests in a browser will be skipped."
	$(BIN)/python -m pip install -q --disable-pip-version-check -r requirements/browser.txt \
	  || echo "No Playwright could be installed: tests in a browser will be skipped."
	@test -e $(AXE) || npm install --silent --no-save --prefix .browser axe-core@4.14.0 \
	  || echo "No axe-core could be installed: accessibility will not be checked."

# What tests/test_second_library.py needs: another compiler with another standard library.
second-library:
	@echo '#include <vector>' | clang++ -stdlib=libc++ -x c++ -fsyntax-only - 2>/dev/null \
	  || { apt-get update -q && apt-get install -qy --no-install-recommends clang libc++-dev libc++abi-dev; } \
	  || echo "No clang with libc++ could be installed: labels will not be compared between standard libraries."

# Pictures of the studio for docs/how-to/studio.md, made by the test that walks through the town.
screenshots: browser
	KECH_PICTURES=docs/pictures/studio $(BIN)/python -m pytest -q -m long tests/test_studio_browser.py -k first_run

# The kernels with address and undefined-behaviour checks, in a folder of their own, under the tests of the kernels.
SANITIZED := build/sanitized
sanitize: .venv/tested
	mkdir -p $(SANITIZED)
	cp -r src/kech $(SANITIZED)/
	rm -f $(SANITIZED)/kech/_kernels*.so
	$(BIN)/cmake -S . -B $(SANITIZED)/build -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) -DCMAKE_BUILD_TYPE=Debug -DPython_EXECUTABLE=$(abspath $(BIN)/python) \
	  -DCMAKE_CXX_FLAGS="-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -O1 -g"
	$(BIN)/cmake --build $(SANITIZED)/build
	cp $(SANITIZED)/build/_kernels*.so $(SANITIZED)/kech/
	CXX=$(CXX) $(BIN)/python -m campaign.sanitize $(SANITIZED) $(OPTIONS)

# Attacks on kech; each prints its figure last.  What they take: make fuzz OPTIONS="--seconds 3600"
$(CAMPAIGN): .venv/tested
	$(BIN)/python -m campaign.$@ $(OPTIONS)

$(SUITES): .venv/tested
	$(BIN)/python -m campaign.suite $@

# What `make determinism` compares with, where it can be had.
determinism: spark
spark:
	@if ! $(HAS_JAVA); then echo "Java 17 or newer is not installed: Spark is left out."; \
	else $(MAKE) -s .venv-spark/installed || echo "pyspark could not be installed: Spark is left out."; fi

# campaign/pages/reliability.md from the figures of the last runs.
reliability: .venv/tested
	$(BIN)/python -m campaign.page

# What tests/test_dbt.py needs: dbt-duckdb with kech, in an environment of its own.
dbt:
	@$(MAKE) -s .venv-dbt/installed || echo "dbt-duckdb could not be installed: its tests will be skipped."

clean:
	rm -rf .venv .venv-bench .venv-dbt .venv-judges .venv-pycanon .venv-spark .venv-wheels .browser build dist kech-demo

compiler:
	@command -v c++ >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null || { \
	  echo "kech needs a C++ compiler. Install one: apt-get install g++ (Debian, Ubuntu), dnf install gcc-c++ (Fedora), xcode-select --install (macOS)."; exit 1; }

.venv/made: | compiler
	@echo "Setting up .venv; this takes a minute or two."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "kech needs Python 3.11 or newer."; exit 1; }
	$(PYTHON) -m venv .venv
	touch $@

.venv/installed: .venv/made requirements/build.txt requirements/core.txt $(SOURCES) | compiler
	$(BIN)/python -m pip install -q --disable-pip-version-check -r requirements/build.txt -r requirements/core.txt
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-build-isolation --no-deps -e .
	touch $@

.venv/tested: .venv/installed requirements/test.txt
	$(BIN)/python -m pip install -q --disable-pip-version-check -r requirements/test.txt
	touch $@

.venv/documented: .venv/tested requirements/docs.txt
	$(BIN)/python -m pip install -q --disable-pip-version-check -r requirements/docs.txt
	touch $@

# Judges that are not ours, each in an environment of its own; one that cannot be had is said on the page.
# NIST's excerpts are judged where KECH_NIST names their folder (ACSDataExcerpts of usnistgov/SDNist).
# ARX judges where KECH_ARX names the class path of its jar, and Java is at hand.
judges: .venv/tested
	@for judge in .venv-judges/anonymeter .venv-judges/models .venv-judges/sdnist .venv-pycanon; do \
	  $(MAKE) -s $$judge/installed || echo "$$judge could not be installed: it will not be asked."; done
	$(BIN)/python -m benchmarks.judges

.venv-judges/%/installed: requirements/judge-%.txt
	$(PYTHON) -m venv .venv-judges/$*
	.venv-judges/$*/bin/python -m pip install -q --disable-pip-version-check -r $<
	touch $@

# pyCANON pins its own numpy and pandas, so it judges from an environment of its own.
.venv-pycanon/installed: requirements/pycanon.txt
	$(PYTHON) -m venv .venv-pycanon
	.venv-pycanon/bin/python -m pip install -q --disable-pip-version-check -r $<
	touch $@

.venv-wheels/installed: requirements/wheels.txt
	$(PYTHON) -m venv .venv-wheels
	.venv-wheels/bin/python -m pip install -q --disable-pip-version-check -r $<
	touch $@

.venv-spark/pyspark: requirements/spark.txt
	$(PYTHON) -m venv .venv-spark
	.venv-spark/bin/python -m pip install -q --disable-pip-version-check -r $<
	touch $@

.venv-spark/installed: .venv-spark/pyspark requirements/build.txt requirements/core.txt $(SOURCES) | compiler
	.venv-spark/bin/python -m pip install -q --disable-pip-version-check -r requirements/build.txt -r requirements/core.txt
	.venv-spark/bin/python -m pip install -q --disable-pip-version-check --no-build-isolation --no-deps -e .
	touch $@

.venv-dbt/installed: requirements/dbt.txt requirements/build.txt requirements/core.txt $(SOURCES) | compiler
	$(PYTHON) -m venv .venv-dbt
	.venv-dbt/bin/python -m pip install -q --disable-pip-version-check -r $< -r requirements/build.txt -r requirements/core.txt
	.venv-dbt/bin/python -m pip install -q --disable-pip-version-check --no-build-isolation --no-deps -e .
	touch $@
