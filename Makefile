# A thin front to CMake (presets in CMakePresets.json): `make help` lists what it does.
# JOBS=N            processes at once, default: all processors
# SCREE_PROBLEMS=D  where the FCLIB problem files are, default ../shared/problems
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
MAKEFLAGS += --no-print-directory

# Configure a preset ($(1), in folder $(2)) when that has not succeeded yet or the presets changed; the
# build itself notices new, changed and removed sources. Tests ($(3), ON or OFF) ask for packages that
# scree does not need, so they are configured by `make test`, and stay.
problems = $(if $(SCREE_PROBLEMS),-DSCREE_PROBLEMS="$(abspath $(SCREE_PROBLEMS))")
tests = $(if $(wildcard $(2)/.configured-tests),ON,$(3))
configured = $(2)/.configured$(if $(filter ON,$(3)),-tests)
configure = if [ -n '$(problems)' ] || ! [ $(configured) -nt CMakePresets.json ]; then \
  cmake --preset $(1) $(problems) -DSCREE_TESTS=$(tests) && touch $(2)/.configured $(configured); fi

.PHONY: all setup test demo install bench format check-format clean help

all: setup ## build build/scree and build/lib/libscree.so
	@$(call configure,release,build,OFF)
	@cmake --build --preset release -j $(JOBS) --target scree scree_shared

setup: ## install what the build needs (Debian)
	@scripts/setup.sh build

test: ## build and test everything, once plain and once under sanitizers
	@scripts/setup.sh build test
	@$(call configure,release,build,ON)
	@cmake --build --preset release -j $(JOBS)
	@cmake --build --preset release -j $(JOBS) --target benches
	@scripts/format.sh --check
	ctest --preset release -j $(JOBS)
	@$(call configure,asan,build/asan,ON)
	@cmake --build --preset asan -j $(JOBS)
	ctest --preset asan -j $(JOBS)

demo: all ## build, run the demonstration
	@scripts/demo.sh

install: all ## install under PREFIX (default /usr/local)
	@cmake --install build --prefix $(PREFIX)

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
