#!/usr/bin/env bash
# Candidates a minute on one GPU and on all GPUs of this host, in one run.
# Writes OUT/log.txt, OUT/gpu.txt, OUT/multi_gpu.json and OUT/entries.json (for bench/summary.py merge).
# usage: [SECONDS_EACH=60] scripts/gpu/multi.sh ARCHIVE.tar.xz OUT_DIR
set -uo pipefail
archive=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d)
chmod 755 "$work" # workers give up root
trap 'rm -rf "$work"' EXIT
tar -C "$work" -xJf "$archive" || exit 1
export PYTHONUNBUFFERED=1 XDG_CACHE_HOME=$work/cache
nvidia-smi --query-gpu=index,name,driver_version,clocks.sm,temperature.gpu --format=csv | tee "$out/gpu.txt"
nproc | tee -a "$out/gpu.txt"
timeout -k 10 $((2 * ${SECONDS_EACH:-60} + 240)) python3 bench/throughput/multi_gpu.py --runner "$work/bin/warpwright-runner" \
  --out "$work/raw" --commit "$(cat "$work/commit")" --seconds "${SECONDS_EACH:-60}" 2>&1 | tee "$out/log.txt"
status=${PIPESTATUS[0]}
cp "$work/raw/multi_gpu.json" "$work/raw/multi_gpu.stderr.txt" "$out/" 2>/dev/null
cp "$work/raw/multi_gpu.entries.json" "$out/entries.json" 2>/dev/null
exit "$status"
