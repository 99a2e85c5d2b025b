#!/usr/bin/env bash
# Takes what scripts/gpu/honesty.sh or multi.sh brought back into the repository: reports into bench/results/GPU (compressed),
# entries into bench/results/summary.json and the table of docs/results.md, plots into docs/images.
# usage: scripts/gpu/keep.sh OUT_DIR [h200]
set -euo pipefail
out=$(realpath "$1")
cd "$(dirname "$0")/../.."
results=bench/results/${2:-h200}
mkdir -p "$results"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ ! -e "$out/honesty.tar.xz" ] || tar -C "$work" -xJf "$out/honesty.tar.xz"
[ ! -e "$out/multi_gpu.json" ] || { mkdir -p "$work/raw" && cp "$out/multi_gpu.json" "$work/raw/"; }
for name in aa repeat cupti latency kernelbench multi_gpu adversary; do
  report=$work/raw/$name.json
  [ -s "$report" ] || continue
  python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$report" || { echo "$name.json is no report: left out"; continue; }
  xz -9 -c "$report" >"$results/$name.json.xz"
  echo "$results/$name.json.xz"
done
python3 -B bench/honesty/plots.py "$results" docs/images
[ ! -s "$out/entries.json" ] || python3 -B bench/summary.py merge "$out/entries.json"
python3 -B bench/summary.py targets || true
