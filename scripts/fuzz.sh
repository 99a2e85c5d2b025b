#!/usr/bin/env bash
# Runs every fuzz target of a build made with the preset `fuzz`, one after the other.
#   scripts/fuzz.sh BUILD_FOLDER SECONDS_PER_TARGET
# Seeds are real messages; inputs that reach new code are kept in BUILD_FOLDER/corpus for the next run. The first input that
# crashes, leaks, hangs or breaks a property ends it, and is left in BUILD_FOLDER/findings.
set -euo pipefail

build=$1 seconds=$2
mkdir -p "$build/findings"
"$build/tests/fuzz_seeds" "$build/seeds"
# Sources are seeds of analysis as they are.
mkdir -p "$build/seeds/analysis"
root=$(dirname "$0")/..
for source in "$root"/examples/*.cu "$root"/trainer/tasks/suite/*/*.cu; do
  cp "$source" "$build/seeds/analysis/$(basename "$(dirname "$source")")-$(basename "$source")"
done
for target in frames decoders service analysis; do
  mkdir -p "$build/corpus/$target"
  echo "fuzz_$target: $seconds s"
  "$build/tests/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 \
    -artifact_prefix="$build/findings/$target-" "$build/corpus/$target" "$build/seeds/$target" 2>"$build/$target.log" || {
    tail -40 "$build/$target.log" >&2
    exit 1
  }
  grep -E "stat::number_of_executed_units|stat::average_exec_per_sec|stat::peak_rss_mb" "$build/$target.log"
done
