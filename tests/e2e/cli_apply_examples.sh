#!/usr/bin/env bash
# Applying keeps programs compiling: every example, optimized on the CPU backend with --apply=checked, still goes
# through nvcc. That it prints the same needs a GPU: scripts/gpu/apply_examples.sh. Exit 77 (skipped) without nvcc.
# usage: cli_apply_examples.sh WARPWRIGHT EXAMPLES_DIR
set -euo pipefail
warpwright=$1
examples=$2
nvcc=$(command -v nvcc || echo "${CUDA_PATH:-/usr/local/cuda}/bin/nvcc")
[ -x "$nvcc" ] || { echo "no nvcc: skipped"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_STATE_HOME=$work/state
failed=0
changed=0
for source in "$examples"/*.cu; do
  name=$(basename "$source")
  cp "$source" "$work/$name"
  "$warpwright" optimize "$work/$name" --device cpu --apply=checked --max-variants 3 --budget 8s --json \
    >"$work/out.json" 2>"$work/log" || { echo "$name: $(tail -n 1 "$work/log")"; failed=1; }
  cmp -s "$source" "$work/$name" || changed=$((changed + 1))
  "$nvcc" -arch=sm_90 -c "$work/$name" -o "$work/out.o" 2>"$work/nvcc.log" ||
    { echo "$name does not compile after --apply: $(head -n 3 "$work/nvcc.log")"; failed=1; }
done
echo "$changed examples were changed"
[ "$changed" -ge 5 ] || { echo "too few changed for this to prove anything"; failed=1; }
exit $failed
