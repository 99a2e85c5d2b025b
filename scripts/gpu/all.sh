#!/usr/bin/env bash
# Everything that needs a GPU, in one call on a machine that may have nothing but a driver: the tests labelled gpu, the
# scripted editor session, the examples' speedups, and the proof that applied programs still print the same.
# usage: scripts/gpu/all.sh ARCHIVE.tar.xz OUT_DIR     (the archive is scripts/gpu/pack.sh's)
set -uo pipefail
archive=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -C "$work" -xJf "$archive" || exit 1
bin=$work/bin
commit=$(cat "$work/commit")
# The session test was built elsewhere: it is told where programs and examples are here.
export WARPWRIGHT_BIN=$bin WARPWRIGHT_EXAMPLES=$PWD/examples WARPWRIGHT_RUNNER=$bin/warpwright-runner
failed=0
run() { # run NAME COMMAND...: its output goes to the log, its failure is counted and told
  local name=$1 start=$SECONDS
  shift
  echo "== $name"
  "$@" 2>&1 | tee "$work/last.log" | tail -n 40
  local status=${PIPESTATUS[0]}
  { echo "== $name: exit $status, $((SECONDS - start)) s"; cat "$work/last.log"; } >>"$out/log.txt"
  [ "$status" -eq 0 ] || { failed=$((failed + 1)); echo "== $name FAILED ($status)"; }
}
nvidia-smi --query-gpu=name,driver_version,clocks.sm,temperature.gpu --format=csv | tee "$out/gpu.txt"
run "GPU tests" "$work/tests/runner_gpu_tests"
run "torch host" python3 "$work/tests/torch/gpu_host_test.py" "$bin/torch"
run "shared gpu" python3 "$work/tests/torch/shared_gpu_test.py" "$bin/torch"
run "torch tasks" python3 "$work/tests/torch/worker_gpu_test.py" "$bin/warpwright-runner"
run "adversary" "$bin/warpwright-runner" adversary --device cuda:0
run "deep check" scripts/gpu/deep.sh "$bin" "$out/deep"
run "operations" scripts/gpu/operations.sh "$bin" "$out/operations"
run "editor session" "$work/tests/lsp_gpu_session"
cp "$work/last.log" "$out/lsp_session.txt"
run "examples" scripts/gpu/bench_examples.sh "$bin" "$work/examples" "$commit"
cp "$work"/examples/examples.{json,html,entries.json} "$out/" 2>/dev/null
run "check" scripts/gpu/check.sh "$bin"
run "apply" scripts/gpu/apply_examples.sh "$bin" "$work/apply" "$commit"
cp "$work"/apply/apply.entries.json "$out/" 2>/dev/null
tar -C "$work/apply" -cJf "$out/applied.tar.xz" applied apply.txt 2>/dev/null
echo "$failed step(s) failed"
exit "$failed"
