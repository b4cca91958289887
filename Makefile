# A thin front to CMake (presets in CMakePresets.json): `make help` lists what it does.
# JOBS=N            processes at once, default: all processors
# SCREE_PROBLEMS=D  where the FCLIB problem files are, default ../shared/problems
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
MAKEFLAGS += --no-print-directory

# Configure a preset ($(1), in folder $(2)) when that has not succeeded yet or the presets changed; the
# build itself notices new, changed and removed sources. Tests and the Python module ($(3): ON for both,
# PYTHON for the module alone, or OFF) ask for packages that scree does not need, so they are configured by
# `make test` and `make python`, and stay.
problems = $(if $(SCREE_PROBLEMS),-DSCREE_PROBLEMS="$(abspath $(SCREE_PROBLEMS))")
tests = $(if $(or $(filter ON,$(3)),$(wildcard $(2)/.configured-tests)),ON,OFF)
python = $(if $(or $(filter-out OFF,$(3)),$(wildcard $(2)/.configured-tests $(2)/.configured-python)),ON,OFF)
configured = $(2)/.configured$(if $(filter ON,$(3)),-tests)$(if $(filter PYTHON,$(3)),-python)
configure = if [ -n '$(problems)' ] || ! [ $(configured) -nt CMakePresets.json ]; then \
  cmake --preset $(1) $(problems) -DSCREE_TESTS=$(tests) -DSCREE_PYTHON=$(python) && touch $(2)/.configured $(configured); fi

# The parts of `make test`, in this order; each can be made alone.
TEST_PARTS = check-format test-plain test-asan test-mpi test-clang test-tsan test-fuzz lint

.PHONY: all python mpi setup test test-setup $(TEST_PARTS) fuzz coverage demo install package bench format clean help

all: setup ## build build/scree and the libraries in build/lib
	@$(call configure,release,build,OFF)
	@cmake --build --preset release -j $(JOBS) --target scree scree_shared

python: ## build the Python module into build/python (put that folder on the path)
	@scripts/setup.sh build python
	@$(call configure,release,build,PYTHON)
	@cmake --build --preset release -j $(JOBS) --target scree_python

mpi: ## build the program with MPI into build/mpi (mpirun -n 4 build/mpi/scree solve ...)
	@scripts/setup.sh build mpi
	@$(call configure,mpi,build/mpi,OFF)
	@cmake --build --preset mpi -j $(JOBS) --target scree

setup: ## install what the build needs (Debian)
	@scripts/setup.sh build

test: test-setup ## build and test everything: all of the parts below that begin with test-, and lint
	@for part in $(TEST_PARTS); do \
	  start=$$(date +%s); \
	  $(MAKE) $$part || { echo "make test: $$part failed"; exit 1; }; \
	  echo "make test: $$part took $$(($$(date +%s) - start)) s"; \
	done

test-setup:
	@scripts/setup.sh build test python

test-plain: test-setup ## the tests with GCC, optimised; the benchmarks are built
	@$(call configure,release,build,ON)
	@cmake --build --preset release -j $(JOBS)
	@cmake --build --preset release -j $(JOBS) --target benches
	ctest --preset release -j $(JOBS)

test-asan: test-setup ## the tests with AddressSanitizer and UBSan
	@$(call configure,asan,build/asan,ON)
	@cmake --build --preset asan -j $(JOBS)
	ctest --preset asan -j $(JOBS)

test-mpi: test-setup ## several ranks under mpirun, with AddressSanitizer and UBSan
	@scripts/setup.sh mpi || true
	@if ! command -v mpicc >/dev/null || ! command -v mpirun >/dev/null; then \
	  echo "test-mpi: skipped, MPI is not installed (libopenmpi-dev, openmpi-bin)"; exit 0; fi; \
	[ build/mpi-asan/.configured-tests -nt CMakePresets.json ] || { \
	  cmake --preset mpi-asan -DSCREE_TESTS=ON && touch build/mpi-asan/.configured-tests; } && \
	cmake --build --preset mpi-asan -j $(JOBS) --target test_ranks test_domain scree && ctest --preset mpi-asan

test-clang: test-setup ## everything builds with Clang; its results have the bits of GCC's
	@$(call configure,clang,build/clang,ON)
	@cmake --build --preset clang -j $(JOBS)
	@cmake --build --preset clang -j $(JOBS) --target benches
	@$(call configure,release,build,OFF)
	@cmake --build --preset release -j $(JOBS) --target scree
	@scripts/same_bits.sh build/scree build/clang/scree

test-tsan: test-setup ## the tests that use threads, with ThreadSanitizer
	@$(call configure,tsan,build/tsan,ON)
	@cmake --build --preset tsan -j $(JOBS) --target threaded_tests
	ctest --preset tsan -L threads -j $(JOBS)

test-fuzz: test-setup ## a few seconds of each fuzz target
	@$(call configure,clang,build/clang,ON)
	@cmake --build --preset clang -j $(JOBS) --target fuzzers
	ctest --preset clang -L fuzz -j $(JOBS)

lint: test-setup ## clang-tidy and cppcheck
	@$(call configure,clang,build/clang,ON)
	@scripts/lint.sh build/clang $(JOBS)

TARGET ?= scene
TIME ?= 60
fuzz: test-setup ## one fuzz target for long: make fuzz TARGET=scene TIME=600 (inputs are kept)
	@$(call configure,clang,build/clang,ON)
	@cmake --build --preset clang -j $(JOBS) --target fuzz_$(TARGET)
	@fuzz/run.sh build/clang/fuzz/fuzz_$(TARGET) $(TIME) build/clang/fuzz/corpus-$(TARGET)

coverage: ## what the tests execute: a table, and pages in build/coverage/html
	@scripts/setup.sh build test python cover
	@$(call configure,coverage,build/coverage,ON)
	@scripts/coverage.sh build/coverage $(JOBS)

demo: all ## build, run the demonstration
	@scripts/demo.sh

install: all ## install under PREFIX (default /usr/local)
	@cmake --install build --prefix $(PREFIX)

package: all ## make a Debian package, build/package/*.deb (program, libraries, headers, examples)
	@scripts/setup.sh build package
	@cmake --build --preset release -j $(JOBS) --target scree scree_shared_solver scree_shared_world scree_shared_scree >/dev/null
	@cd build && cpack -G DEB >/dev/null && ls package/*.deb

bench: ## build the benchmarks into build/bench (run them by hand)
	@scripts/setup.sh build bench
	@rm -f build/.configured
	@$(call configure,release,build,OFF)
	@cmake --build --preset release -j $(JOBS) --target benches
	@ls -1 build/bench 2>/dev/null | sed 's,^,build/bench/,'

format: ## lay out the C sources with clang-format 14
	@scripts/format.sh --fix

check-format: ## report sources that `make format` would change
	@scripts/format.sh --check

clean: ## remove build/
	@rm -rf build

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s%s\n", $$1, $$2 }' Makefile
