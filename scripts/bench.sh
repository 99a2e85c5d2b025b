#!/usr/bin/env bash
# Reruns what this machine can measure and merges it into bench/results/summary.json and the table of docs/results.md.
# With an NVIDIA GPU: the examples' speedups, and with nvcc too that applied programs print the same.
# usage: scripts/bench.sh BIN_DIR
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$1
out=build/bench
mkdir -p "$out"
rm -f "$out"/*.entries.json

if "$bin/warpwright" doctor --json | python3 -c 'import json, sys; sys.exit(not json.load(sys.stdin)["ready"]["gpu"])'; then
  scripts/gpu/bench_examples.sh "$bin" "$out"
  if command -v nvcc >/dev/null || [ -x "${CUDA_PATH:-/usr/local/cuda}/bin/nvcc" ]; then
    scripts/gpu/apply_examples.sh "$bin" "$out"
  fi
else
  echo "bench: no GPU here, so no speedup is measured; 'warpwright doctor' says why"
fi
# Other benchmarks: each is an executable that takes BIN_DIR and a file for its entries.
for benchmark in bench/run_*; do
  [ -x "$benchmark" ] || continue
  name=$(basename "$benchmark")
  "$benchmark" "$bin" "$out/$name.entries.json"
done
shopt -s nullglob
entries=("$out"/*.entries.json)
[ ${#entries[@]} -eq 0 ] && { echo "bench: nothing was measured"; exit 0; }
python3 bench/summary.py merge "${entries[@]}"
python3 bench/summary.py targets
