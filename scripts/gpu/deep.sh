#!/usr/bin/env bash
# The deep check, the counters and replay on a real GPU: what doctor finds, a right kernel and two planted faults under every
# tool with the tools' raw texts kept, and a verdict replayed. Needs a driver; reports what was skipped without the tools.
# usage: scripts/gpu/deep.sh BIN_DIR OUT_DIR
set -uo pipefail
runner=$(realpath "$1")/warpwright-runner
mkdir -p "$2"
out=$(realpath "$2")
python3 - "$out" <<'TASKS'
import json, sys
out = sys.argv[1]
head = 'extern "C" __global__ void square(const float *x, float *y, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n#line 40 "user.cu"\n'
def plan(body):
    arguments = [{"buffer": "x"}, {"buffer": "y"}, {"size": "n", "dtype": "int32"}]
    return {"source": head + body + "\n}", "options": [],
            "steps": [{"launch": {"kernel": "square", "grid": ["ceil_div(n, 256)"], "block": [256], "arguments": arguments}}]}
right = "  if (i < n) y[i] = x[i] * x[i];"
task = {"name": "square", "sizes": {"n": 1 << 24}, "check_sizes": [{"n": 7}, {"n": 100001}], "work": {"bytes": "8 * n"},
        "buffers": [{"name": "x", "dtype": "float32", "extent": "n", "direction": "in"},
                    {"name": "y", "dtype": "float32", "extent": "n", "direction": "out"}], "reference": plan(right)}
plans = {"right": right,
         "stray": "  if (i < n) {\n    y[i] = x[i] * x[i];\n    if (__float_as_int(x[i + 1]) == 0x12345678) y[i] = 0;\n  }",
         "race": "  __shared__ volatile float s[256];\n  int t = threadIdx.x, other = i ^ 32;\n"
                 "  if (other < n) s[t ^ 32] = x[other];\n  __nanosleep(50000);\n  if (i < n) y[i] = s[t] * s[t];"}
json.dump(task, open(out + "/task.json", "w"))
for name, body in plans.items():
    json.dump(plan(body), open(f"{out}/{name}.json", "w"))
TASKS
"$runner" doctor | tee "$out/doctor.txt"
failed=0
expect() { # expect NAME OUTCOME ARGUMENTS...: verifies and compares the outcome
  local name=$1 wanted=$2
  shift 2
  "$runner" verify "$out/task.json" "$out/$name.json" --device cuda:0 --timeout 180000 --json "$@" >"$out/$name.verdict.json"
  python3 - "$out/$name.verdict.json" "$name" "$wanted" <<'SHOW' || failed=$((failed + 1))
import json, sys
verdict = json.load(open(sys.argv[1]))
print(f"== {sys.argv[2]}: {verdict['outcome']}: {verdict['message']}")
for check in verdict["checks"]:
    if check["name"].endswith("check") or check["name"] == "hardware counters":
        print("  ", "ok    " if check["passed"] else "FAILED", check["name"] + ":", check["detail"])
for side in ("reference", "candidate"):
    if side in verdict.get("counters", {}):
        print("  ", side, json.dumps(verdict["counters"][side]))
sys.exit(verdict["outcome"] != sys.argv[3])
SHOW
}
raw() { # raw FILE TOOL...: a tool's own text over the launch, kept as it is
  local file=$1
  shift
  "$@" >"$out/$file" 2>&1
  echo "== $file: exit $?, $(wc -l <"$out/$file") lines"
}
sanitizer=$(command -v compute-sanitizer || ls -d /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | tail -n 1)
ncu=$(command -v ncu || ls -d /usr/local/cuda*/bin/ncu /opt/nvidia/nsight-compute/*/ncu 2>/dev/null | tail -n 1)
if [ -n "$sanitizer" ]; then
  for tool in memcheck racecheck initcheck synccheck; do
    for plan in right stray race; do
      raw "$tool.$plan.txt" "$sanitizer" --tool $tool --error-exitcode 86 --report-api-errors no --show-backtrace no \
        "$runner" launch "$out/task.json" "$out/$plan.json" --device cuda:0 --size n=7 --size n=100001
    done
  done
  expect right verified --deep --profile
  expect stray crash --deep --no-measure
  expect race wrong_result --deep --no-measure
else
  echo "no compute-sanitizer: the deep check is skipped"
  expect right verified --profile
fi
[ -z "$ncu" ] || raw ncu.right.csv "$ncu" --csv --page raw --print-units base --cache-control all --clock-control none \
  --metrics gpu__time_duration.sum,dram__throughput.avg.pct_of_peak_sustained_elapsed,sm__throughput.avg.pct_of_peak_sustained_elapsed \
  "$runner" launch "$out/task.json" "$out/right.json" --device cuda:0
"$runner" replay "$out/right.verdict.json" | tee "$out/replay.txt"
case ${PIPESTATUS[0]} in 0) ;; *) failed=$((failed + 1)) ;; esac
echo "$failed step(s) failed"
exit "$failed"
