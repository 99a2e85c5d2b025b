#!/usr/bin/env bash
# Optimized programs keep working: for every example, compile and run it, optimize a copy with --apply, compile and
# run that, and compare what both print. Needs a GPU and nvcc. Writes OUT/apply.txt, the applied sources and
# OUT/apply.entries.json. Fails when a program no longer compiles or prints something else.
# usage: scripts/gpu/apply_examples.sh BIN_DIR OUT_DIR [COMMIT]
set -euo pipefail
bin=$(realpath "$1")
mkdir -p "$2/applied"
out=$(realpath "$2")
cd "$(dirname "$0")/../.."
commit=${3:-$(git rev-parse --short HEAD 2>/dev/null || echo unknown)}
nvcc=$(command -v nvcc || echo "${CUDA_PATH:-/usr/local/cuda}/bin/nvcc")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

total=0
same=0
applied=0
: >"$out/apply.txt"
for source in examples/*.cu; do
  name=$(basename "$source" .cu)
  total=$((total + 1))
  "$nvcc" -O3 -arch=native "$source" -o "$work/$name.before"
  before=$("$work/$name.before")
  cp "$source" "$out/applied/$name.cu"
  "$bin/warpwright" optimize "$out/applied/$name.cu" --device cuda:0 --apply --json \
    --budget "${WARPWRIGHT_BENCH_BUDGET:-10s}" --ledger "$work/ledger.sqlite" >"$work/$name.json" 2>"$work/$name.log" ||
    echo "$name: warpwright reported a failure: $(tail -n 1 "$work/$name.log")" >>"$out/apply.txt"
  cmp -s "$source" "$out/applied/$name.cu" || applied=$((applied + 1))
  if ! "$nvcc" -O3 -arch=native "$out/applied/$name.cu" -o "$work/$name.after" 2>"$work/$name.nvcc"; then
    echo "$name: no longer compiles: $(head -n 1 "$work/$name.nvcc")" >>"$out/apply.txt"
    continue
  fi
  after=$("$work/$name.after" || true)
  if [ "$before" = "$after" ]; then
    same=$((same + 1))
    echo "$name: same output: $after" >>"$out/apply.txt"
  else
    echo "$name: DIFFERS: before '$before', after '$after'" >>"$out/apply.txt"
  fi
done
cat "$out/apply.txt"
echo "$same of $total print what they printed; $applied were changed"
gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1)
cat >"$out/apply.entries.json" <<ENTRIES
[{"key": "examples that print the same after --apply", "value": $same, "low": null, "high": null, "unit": "of $total",
  "target": "== $total", "command": "scripts/gpu/apply_examples.sh", "gpu": "$gpu", "commit": "$commit",
  "date": "$(date -u +%Y-%m-%dT%H:%M:%SZ)"}]
ENTRIES
[ "$same" -eq "$total" ]
