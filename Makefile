# Two commands: `make demo` and `make test`.  Everything lives in .venv.
PYTHON ?= python3
BIN := .venv/bin
SOURCES := pyproject.toml CMakeLists.txt $(wildcard src/kech/_kernels/*)

.PHONY: demo test lint bench pictures sanitize clean compiler
.DEFAULT_GOAL := demo

demo: .venv/installed
	$(BIN)/kech demo

test: .venv/tested .venv-pycanon/installed lint
	$(BIN)/python -m pytest -q -n 2

lint: .venv/tested
	$(BIN)/ruff format --check -q src tests benchmarks docs
	$(BIN)/ruff check -q src tests benchmarks docs
	$(BIN)/mypy

bench: .venv/tested
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/topology.py --cap 120
	$(BIN)/python benchmarks/lattice.py
	$(BIN)/python benchmarks/zigzag.py
	$(BIN)/python benchmarks/shapes.py
	$(BIN)/python benchmarks/loss.py
	$(BIN)/python benchmarks/attacks.py

pictures: .venv/tested
	$(BIN)/python docs/pictures/draw.py

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
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libubsan.so)" ASAN_OPTIONS=detect_leaks=0 \
	  $(BIN)/python tests/sanitized.py $(SANITIZED) $(addprefix tests/test_,local.py ordering.py bounds.py complexes.py zigzag.py)

clean:
	rm -rf .venv .venv-bench .venv-pycanon build dist kech-demo

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

# pyCANON pins its own numpy and pandas, so it judges from an environment of its own.
.venv-pycanon/installed: requirements/pycanon.txt
	$(PYTHON) -m venv .venv-pycanon
	.venv-pycanon/bin/python -m pip install -q --disable-pip-version-check -r $<
	touch $@
