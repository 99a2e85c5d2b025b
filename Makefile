# The two commands of the README, and the few that developers use. All work is in CMake and scripts/.
JOBS ?= $(shell nproc)
# The system that packages are for: x86_64, or arm64, which is cross-compiled (docs/internals/releases.md).
ARCH ?= x86_64
PRESET := $(if $(filter arm64,$(ARCH)),linux-arm64,release)
BUILD := build/$(PRESET)
BIN := $(BUILD)/bin

.PHONY: demo test test-editors test-arm64 package release build deps bench fuzz test-corpus format tidy clean

# The demo's programs alone: an editor's server, the runner and its workers. CCACHE_REMOTE_STORAGE, if set, names a shared cache of ccache.
demo:
	@printf '[1/3] '; scripts/install-deps.sh demo
	@cmake --preset release -DWARPWRIGHT_TESTS=OFF >/dev/null
	@scripts/build_progress.py '[2/3] building' -- ninja -C $(BUILD) -j $(JOBS) warpwright warpwright-runner warpwright-worker-cpu warpwright-worker
	@echo '[3/3] examples: optimizing the kernels of examples/'
	@scripts/demo.sh $(BIN)

test: build
	@timeout 300 scripts/install-agents.sh || echo "The SDK of agents cannot be installed here: its tests say so and are skipped"
	@timeout 900 scripts/install-editors.sh || echo "VS Code cannot be installed here: its test says so and is skipped"
	cd $(BUILD) && ctest --output-on-failure --no-tests=error -LE 'bench|packages|long|golden' -j $(JOBS)

# What users install, into build/packages: .tar.xz, .deb, the wheel for PyTorch, the Neovim plugin, the VSIX for VS Code. With ARCH=arm64 for
# arm64 Linux.
package: build
	scripts/package.sh $(BUILD) build/packages

# The packages of both systems with release notes, and files for Mason, nvim-lspconfig and conda in build/packages/release. Only of committed sources.
release:
	scripts/release.py check $(REPOSITORY)
	+REPOSITORY=$(REPOSITORY) $(MAKE) package ARCH=x86_64
	+REPOSITORY=$(REPOSITORY) $(MAKE) package ARCH=arm64
	scripts/release.py write build/release build/packages $(REPOSITORY)

# The extension in VS Code, the plugin in Neovim, and each package installed and used; what cannot be had here is skipped.
test-editors: package
	@scripts/install-editors.sh || test $$? -eq 77
	cd $(BUILD) && ctest --output-on-failure --no-tests=error -L 'editors|packages'

# The packages for arm64 Linux under qemu-user: symbol versions, programs, an analysis, a session of an editor, an optimization on the CPU.
test-arm64:
	+$(MAKE) package ARCH=arm64
	python3 -B tests/packages/arm64_test.py build/packages build/older-glibc

build: deps
	@cmake --preset $(PRESET) >/dev/null
	cmake --build $(BUILD) -j $(JOBS)

deps:
	@scripts/install-deps.sh $(if $(filter arm64,$(ARCH)),arm64)

# Reruns what this machine can measure, and merges it into bench/results/summary.json and the table of docs/results.md.
bench: build
	scripts/bench.sh $(BIN)

# What reads bytes from the network, and analysis of sources, under libFuzzer with sanitizers: FUZZ_SECONDS a target, new inputs kept in build/fuzz.
FUZZ_SECONDS ?= 600
fuzz: deps
	@cmake --preset fuzz >/dev/null
	cmake --build --preset fuzz -j $(JOBS)
	scripts/fuzz.sh build/fuzz $(FUZZ_SECONDS)

# Public CUDA programs, whole and damaged, through analysis and all moves: CORPUS names folders with them, joined by ":".
test-corpus: build
	cd $(BUILD) && WARPWRIGHT_CORPUS="$(CORPUS)" ctest --output-on-failure --no-tests=error -V -R '_corpus$$'

format:
	git ls-files '*.cpp' '*.h' | xargs clang-format-22 -i

tidy: build
	git ls-files '*.cpp' | grep -vE '^(tests|bench)/' | xargs -P $(JOBS) -n 4 clang-tidy-22 -p $(BUILD) --quiet

clean:
	rm -rf build
