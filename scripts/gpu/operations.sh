#!/usr/bin/env bash
# A runner as operators see it, on a real GPU: what isolation holds, jobs over a socket, the metrics with NVML's readings, the
# log. Writes OUT/doctor.txt, OUT/metrics.txt and OUT/log.jsonl. Works on the CPU backend as well, without readings.
# usage: scripts/gpu/operations.sh BIN_DIR OUT_DIR [DEVICE]
set -uo pipefail
runner=$(realpath "$1")/warpwright-runner
mkdir -p "$2"
out=$(realpath "$2")
device=${3:-cuda}
work=$(mktemp -d)
service=
trap '[ -z "$service" ] || kill "$service" 2>/dev/null; rm -rf "$work"' EXIT
"$runner" doctor >"$out/doctor.txt"
cat "$out/doctor.txt"
python3 - "$work" <<'TASKS'
import json, sys
def plan(body):
    source = ('extern "C" __global__ void square(const float *x, float *y, int n) {\n'
              '  int i = blockIdx.x * blockDim.x + threadIdx.x;\n' + body + '\n}')
    arguments = [{"buffer": "x"}, {"buffer": "y"}, {"size": "n", "dtype": "int32"}]
    return {"source": source, "options": [],
            "steps": [{"launch": {"kernel": "square", "grid": ["ceil_div(n, 256)"], "block": [256], "arguments": arguments}}]}
right = "  if (i < n) y[i] = x[i] * x[i];"
task = {"name": "square", "sizes": {"n": 1 << 20}, "check_sizes": [{"n": 7}, {"n": 1025}], "work": {"bytes": "8 * n"},
        "buffers": [{"name": "x", "dtype": "float32", "extent": "n", "direction": "in"},
                    {"name": "y", "dtype": "float32", "extent": "n", "direction": "out"}], "reference": plan(right)}
plans = {"right": "  if (i < n) y[i] = x[i] * x[i] + 0;", "broken": "  y[i] = nothing;", "wrong": "  if (i < n) y[i] = x[i];",
         "fault": "  if (i < n) y[i + (1ll << 40)] = x[i];"}
json.dump(task, open(sys.argv[1] + "/task.json", "w"))
for name, body in plans.items():
    json.dump(plan(body), open(f"{sys.argv[1]}/{name}.json", "w"))
TASKS
"$runner" serve --socket "$work/socket" --metrics 127.0.0.1:0 --log-format json --log-level info 2>"$out/log.jsonl" &
service=$!
for _ in $(seq 600); do
  grep -qs 'listening on' "$out/log.jsonl" && break
  sleep 0.1
done
address=$(sed -n 's|^metrics on \(http://.*\)/metrics$|\1|p' "$out/log.jsonl")
verify() { # verify PLAN: its outcome and the seconds that it took
  local start
  start=$(date +%s.%N)
  "$runner" verify "$work/task.json" "$work/$1.json" --runner "unix:$work/socket" --device "$device" --json >"$work/verdict.json" 2>/dev/null
  python3 -c 'import json, sys, time
print(sys.argv[1], json.load(open(sys.argv[2])).get("outcome"), f"{time.time() - float(sys.argv[3]):.2f} s")' "$1" "$work/verdict.json" "$start"
}
for plan in right right broken wrong fault right; do
  verify "$plan"
done
for _ in $(seq 100); do # the first readings take NVML a moment
  python3 -c 'import sys, urllib.request; sys.stdout.write(urllib.request.urlopen(sys.argv[1]).read().decode())' \
    "$address/metrics" >"$out/metrics.txt"
  grep -q '^warpwright_gpu_temperature_celsius{' "$out/metrics.txt" || [ "$device" = cpu ] && break
  sleep 0.1
done
grep -E '^warpwright_(jobs_total.* [1-9]|gpu_|worker_|compile_ahead)' "$out/metrics.txt"
kill "$service"
wait "$service"
service=
python3 - "$out" "$device" <<'CHECK'
import json, sys
out, device = sys.argv[1:3]
events = [json.loads(line) for line in open(out + "/log.jsonl") if line.startswith("{")]
finished = [event["outcome"] for event in events if event["message"] == "job finished"]
metrics = open(out + "/metrics.txt").read()
wanted = ["verified", "verified", "compile_failed", "wrong_result", "crash", "verified"]
if finished != wanted:
    sys.exit(f"the log has {finished}, wanted {wanted}")
if device != "cpu" and "\nwarpwright_gpu_temperature_celsius{" not in metrics:
    sys.exit("there are no readings of the GPU")
CHECK
