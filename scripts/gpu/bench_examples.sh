#!/usr/bin/env bash
# Optimizes the examples on a machine with an NVIDIA GPU and writes what was measured: OUT/examples.json (all
# verdicts), OUT/examples.html (the report) and OUT/examples.entries.json (for bench/summary.py merge).
# Needs only the two programs, python3 and a driver: nothing is built here.
# usage: scripts/gpu/bench_examples.sh BIN_DIR OUT_DIR [COMMIT]
set -euo pipefail
bin=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
cd "$(dirname "$0")/../.."
commit=${3:-$(git rev-parse --short HEAD 2>/dev/null || echo unknown)}

"$bin/warpwright" doctor | tee "$out/doctor.txt"
status=0
"$bin/warpwright" optimize examples --device cuda:0 --budget "${WARPWRIGHT_BENCH_BUDGET:-30s}" --json \
  --ledger "$out/ledger.sqlite" --html "$out/examples.html" >"$out/examples.json" || status=$?
python3 bench/entries_from_optimize.py "$out/examples.json" "$commit" >"$out/examples.entries.json"
python3 - "$out/examples.json" <<'SUMMARY'
import json, sys
report = json.load(open(sys.argv[1]))
for kernel in report["kernels"]:
    best = kernel["variants"][kernel["best"]] if kernel["best"] is not None else None
    told = kernel["error"]["message"] if kernel["error"] else "nothing faster"
    if best and best["speedup"]:
        s = best["speedup"]
        told = f"{s['ratio']:.2f}x [{s['low']:.2f}, {s['high']:.2f}]  {' + '.join(best['moves'])}"
    print(f"{kernel['name']:14} {len(kernel['variants']):3} variants  {told}")
SUMMARY
exit "$status"
