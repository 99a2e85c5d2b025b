#!/usr/bin/env bash
# Measures whether the runner can be trusted and how fast it judges, on a machine with a GPU: GPU tests, adversary suite,
# recovery after faults, agreement with CUPTI (and Nsight Compute where present), A/A, repeatability between processes,
# candidates per minute against KernelBench. A step that fails or runs out of time is logged, and the next one goes on.
# Writes OUT/log.txt, OUT/gpu.txt, OUT/entries.json (for bench/summary.py merge) and OUT/honesty.tar.xz (all raw results).
# usage: [BUDGET_S=520] [KERNELBENCH=DIR_OR_TAR] [PRECOMPILED=6] scripts/gpu/honesty.sh ARCHIVE.tar.xz OUT_DIR [STEP...]
#   STEPs: latency cupti aa repeat kernelbench adversary tests; all of them by default. Fewer get more of BUDGET_S: two calls,
#   "latency cupti aa repeat" (400 s) and "kernelbench adversary tests", give every step its usual time.
set -uo pipefail
begun=$SECONDS
archive=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
kernelbench=${KERNELBENCH:+$(realpath "$KERNELBENCH")}
shift 2
steps=("$@")
[ ${#steps[@]} -gt 0 ] || steps=(latency cupti aa repeat kernelbench adversary tests)
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d)
chmod 755 "$work" # workers give up root
trap 'rm -rf "$work"' EXIT
tar -C "$work" -xJf "$archive" || exit 1
bin=$work/bin raw=$work/raw commit=$(cat "$work/commit") runner=$work/bin/warpwright-runner
mkdir -p "$raw"
export WARPWRIGHT_BIN=$bin WARPWRIGHT_RUNNER=$runner PYTHONUNBUFFERED=1 XDG_CACHE_HOME=$work/cache
: >"$out/log.txt"
failed=0
run() { # run NAME LIMIT_S COMMAND...
  local name=$1 limit=$2 start=$SECONDS status
  shift 2
  echo "== $name (at $((SECONDS - begun)) s)"
  timeout -k 10 "$limit" "$@" >"$raw/$name.txt" 2>&1
  status=$?
  tail -n 45 "$raw/$name.txt" | cut -c1-220
  { echo "== $name: exit $status, $((SECONDS - start)) s"; cat "$raw/$name.txt"; } >>"$out/log.txt"
  [ "$status" -eq 0 ] || { failed=$((failed + 1)); echo "== $name FAILED ($status) after $((SECONDS - start)) s"; }
}
pack() { # after every step, so that a machine that goes away leaves what is done
  tar -C "$work" -cJf "$out/honesty.tar.xz.part" raw 2>/dev/null && mv "$out/honesty.tar.xz.part" "$out/honesty.tar.xz"
  python3 - "$raw" "$out/entries.json" <<'MERGE'
import glob, json, sys
found = [entry for path in sorted(glob.glob(sys.argv[1] + "/*.entries.json")) for entry in json.load(open(path))]
json.dump(found, open(sys.argv[2], "w"), indent=1)
MERGE
}

# Seconds that a step takes whatever it is given, and seconds that it can use well.
declare -A fixed=([tests]=100 [adversary]=80 [latency]=30 [cupti]=55 [aa]=10 [repeat]=10 [kernelbench]=105)
declare -A useful=([tests]=0 [adversary]=0 [latency]=0 [cupti]=70 [aa]=165 [repeat]=60 [kernelbench]=40)
[ -n "$kernelbench" ] || fixed[kernelbench]=15
precompiled=${PRECOMPILED:-0}
[ "$precompiled" -gt 0 ] && fixed[kernelbench]=$((fixed[kernelbench] + 120))
sum_fixed=0 sum_useful=1
for step in "${steps[@]}"; do
  sum_fixed=$((sum_fixed + ${fixed[$step]:-0}))
  sum_useful=$((sum_useful + ${useful[$step]:-0}))
done
percent=$(((${BUDGET_S:-520} - sum_fixed) * 100 / sum_useful))
[ "$percent" -lt 40 ] && percent=40
[ "$percent" -gt 125 ] && percent=125
seconds_of() { echo $((${useful[$1]} * percent / 100)); }
echo "steps ${steps[*]}; timed parts get $percent% of their usual time"

cuda=${CUDA_PATH:-/usr/local/cuda}
first_of() { # the first that exists
  local path
  for path in "$@"; do [ -e "$path" ] && { echo "$path"; return; }; done
}
site=$(python3 -c 'import sysconfig; print(sysconfig.get_path("purelib"))' 2>/dev/null)
libcupti=$(first_of "$cuda"/extras/CUPTI/lib64/libcupti.so.13 "$cuda"/lib64/libcupti.so.13 \
  "$cuda"/targets/x86_64-linux/lib/libcupti.so.13 "$cuda"/lib/libcupti.so.13 "$site"/nvidia/cu13/lib/libcupti.so.13 \
  "$site"/nvidia/cuda_cupti/lib/libcupti.so.13 /usr/lib/x86_64-linux-gnu/libcupti.so.13)
[ -n "$libcupti" ] || libcupti=$(find / -xdev -name 'libcupti.so.13*' -not -path '/proc/*' 2>/dev/null | head -n 1)
ncu=$(command -v ncu || first_of "$cuda/bin/ncu" /opt/nvidia/nsight-compute/*/ncu)

build_trace() { # cupti_trace.so from the archive, else built here
  [ -e "$work/lib/cupti_trace.so" ] && return 0
  local include
  include=$(first_of "$cuda"/extras/CUPTI/include/cupti.h "$cuda"/include/cupti.h "$site"/nvidia/cu13/include/cupti.h \
    "$site"/nvidia/cuda_cupti/include/cupti.h)
  [ -n "$include" ] || { echo "no cupti.h here, and the archive has no cupti_trace.so"; return 1; }
  mkdir -p "$work/lib"
  g++ -std=c++17 -O2 -shared -fPIC -I"$(dirname "$include")" -I"$cuda/include" bench/honesty/cupti_trace.cpp \
    -o "$work/lib/cupti_trace.so" -ldl -pthread
}

step_tests() { run tests 240 "$work/tests/runner_gpu_tests"; }
step_adversary() {
  run adversary 200 sh -c '"$1" adversary --device cuda:0 --json >"$2/adversary.json"' sh "$runner" "$raw"
  run adversary_entries 20 python3 bench/honesty/adversary.py --report "$raw/adversary.json" --out "$raw" \
    --commit "$commit"
}
step_latency() { run latency 90 python3 bench/honesty/latency.py --runner "$runner" --out "$raw" --commit "$commit"; }
step_cupti() {
  build_trace >"$raw/cupti_build.txt" 2>&1 || { echo "== cupti_trace.so was not built"; cat "$raw/cupti_build.txt"; }
  run cupti $(($(seconds_of cupti) + 120)) python3 bench/honesty/cupti.py --runner "$runner" --out "$raw" --commit "$commit" \
    --library "$work/lib/cupti_trace.so" ${libcupti:+--libcupti "$libcupti"} ${ncu:+--ncu "$ncu"} \
    --seconds "$(seconds_of cupti)"
}
step_aa() {
  run aa $(($(seconds_of aa) * 13 / 10 + 60)) python3 bench/honesty/aa.py --runner "$runner" --out "$raw" \
    --commit "$commit" --seconds "$(seconds_of aa)"
}
step_repeat() {
  run repeat $(($(seconds_of repeat) * 2 + 60)) python3 bench/honesty/repeat.py --runner "$runner" --out "$raw" \
    --commit "$commit" --seconds "$(seconds_of repeat)"
}
step_kernelbench() {
  local checkout=$kernelbench
  if [ -f "$checkout" ]; then
    mkdir -p "$work/kernelbench"
    tar -C "$work/kernelbench" -xf "$checkout"
    checkout=$(dirname "$(dirname "$(dirname "$(find "$work/kernelbench" -path '*/src/kernelbench/eval.py' | head -n 1)")")")
  fi
  run kernelbench 420 python3 bench/throughput/kernelbench.py --runner "$runner" --out "$raw" --commit "$commit" \
    --seconds "$(seconds_of kernelbench)" --precompiled "$precompiled" ${checkout:+--kernelbench "$checkout"}
}

nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem,temperature.gpu,power.draw --format=csv | tee "$out/gpu.txt"
echo "libcupti ${libcupti:-none}; ncu ${ncu:-none}; KernelBench ${kernelbench:-none}"
for step in "${steps[@]}"; do
  if declare -F "step_$step" >/dev/null; then
    "step_$step"
    pack
  else
    echo "no step $step"
    failed=$((failed + 1))
  fi
done
nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem,temperature.gpu,power.draw --format=csv | tee -a "$out/gpu.txt"
echo "$failed step(s) failed, $((SECONDS - begun)) s"
exit "$failed"
