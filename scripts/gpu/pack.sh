#!/usr/bin/env bash
# Packs the stripped programs and the GPU tests of a build into one archive that runs on any x86-64 Linux with a driver.
# With CUPTI's headers here it also holds the trace library of bench/honesty, which opens libcupti where it runs.
# usage: scripts/gpu/pack.sh BUILD_DIR ARCHIVE.tar.xz
set -euo pipefail
build=$(realpath "$1")
archive=$(realpath -m "$2")
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p "$stage/bin" "$stage/tests" "$(dirname "$archive")"
for program in warpwright warpwright-runner warpwright-worker-cpu; do
  strip -o "$stage/bin/$program" "$build/bin/$program"
done
cp -r "$build/bin/torch" "$stage/bin/torch"
strip "$stage/bin/torch/libwarpwright-worker.so"
strip -o "$stage/bin/libwarpwright-capture.so" "$build/bin/libwarpwright-capture.so"
mkdir -p "$stage/tests/torch"
cp "$(dirname "$0")"/../../tests/runner/torch/*.py "$stage/tests/torch/"
for test in runner_gpu_tests lsp_gpu_session; do
  strip -o "$stage/tests/$test" "$build/tests/$test"
done
for include in "${CUDA_PATH:-/usr/local/cuda}"/{extras/CUPTI/include,include}; do
  [ -e "$include/cupti.h" ] && [ ! -e "$stage/lib" ] || continue
  mkdir -p "$stage/lib"
  g++ -std=c++17 -O2 -s -static-libstdc++ -static-libgcc -shared -fPIC -I"$include" -I"${CUDA_PATH:-/usr/local/cuda}/include" \
    "$(dirname "$0")/../../bench/honesty/cupti_trace.cpp" -o "$stage/lib/cupti_trace.so" -ldl -pthread
done
git -C "$(dirname "$0")" rev-parse --short HEAD >"$stage/commit"
XZ_OPT="-T0 -6" tar -C "$stage" -cJf "$archive" .
ls -l "$archive"
