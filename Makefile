# A short front for CMake. `make`, `make demo` and `make check` each do all of their own set-up.
PREFIX ?= /usr/local
DESTDIR ?=
CTEST = ctest --output-on-failure --no-tests=error
JOBS ?= $(shell nproc)

.PHONY: all setup build build-asan demo check asan fuzz soak corpus bench tokens install deb format clean

all: build

setup:
	@tools/setup

build: setup
	@[ -f build/build.ninja ] || cmake --preset dev >/dev/null
	@cmake --build --preset dev -j $(JOBS)

build-asan: setup
	@[ -f build-asan/build.ninja ] || cmake --preset asan >/dev/null
	@cmake --build --preset asan -j $(JOBS)

demo: build
	@examples/demo build/alisio

check: build build-asan
	@tools/check $(JOBS)

asan: build-asan
	$(CTEST) --test-dir build-asan -j $(JOBS)

# Coverage-guided fuzzing of every reader of outside bytes; FUZZ_SECONDS each.
fuzz: setup
	@command -v clang >/dev/null || { echo "fuzz: first apt-get install clang libclang-rt-14-dev" >&2; exit 1; }
	@[ -f build-fuzz/build.ninja ] || cmake --preset fuzz >/dev/null
	@cmake --build --preset fuzz -j $(JOBS)
	@tools/fuzz build-fuzz $${FUZZ_SECONDS:-120}

# Long runs: 100,000 scripts in one host, 200 kills of a host at random moments.
soak: build
	@tests/soak/run build/alisio

# Files that others made, beside the project or at $ALISIO_CORPUS: what each gives, as a table.
corpus: build build-asan
	@node tests/corpus/run.mjs build build-asan

bench: build
	@bench/run build/alisio

# The table of docs/tokens.md.
tokens: build
	@bench/setup tokens
	@node bench/tokens.mjs build/alisio docs/tokens.md

install: build
	cmake --install build --prefix $(DESTDIR)$(PREFIX)

deb: setup
	@[ -f build-release/build.ninja ] || cmake --preset release >/dev/null
	@cmake --build --preset release -j $(JOBS) --target alisio
	@cd build-release && cpack -G DEB

format:
	@git ls-files 'src/*.[ch]' 'tests/*.[ch]' 'bench/*.c' | xargs clang-format -i

clean:
	rm -rf build build-asan build-fuzz build-release
