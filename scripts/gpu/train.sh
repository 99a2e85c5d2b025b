#!/usr/bin/env bash
# The trainer's whole pipeline on GPUs, in three parts of limited length that may run on different machines.
#   PART=1  one or two GPUs: collect (kernels and torch modules), sft, selfsup, reinforcement live (contrastive next to grpo), then evaluation on held-out
#           tasks. With two, torch modules, grpo and the held-out shapes have the second to themselves.
#   PART=2  one to four GPUs: the rest of the evaluation, 256 random trials; next to it two processes against one, a naive loop, the adversary suite as
#           actions, policy against search
#   PART=3  one or more GPUs: many trials of more tasks; next to it, on the first of several, policy against search for AGAINST seconds (0: not)
# Environment: BIN (folder of the programs), OUT (results, kept up to date), STATE (kept between parts; FROM, an archive of it, fills it), PART, LIMIT (seconds),
# PYTHON (has torch: its LibTorch is used), SCALE (of times and trials), DEVICE and NETWORK ("cpu" if there is no GPU).
# SEED draws the shapes that are learned from, HELD_SEED those of the held-out tasks: all kernels of the families that are held out, SHAPES of the others.
set -u
BIN=${BIN:?} OUT=${OUT:?} STATE=${STATE:-/tmp/trainstate} PART=${PART:-1} PYTHON=${PYTHON:-python3} LIMIT=${LIMIT:-540}
SEED=${SEED:-3} HELD_SEED=${HELD_SEED:-11} FAMILIES=${FAMILIES:-0} SHAPES=${SHAPES:-40} FEW=${FEW:-4} SCALE=${SCALE:-1} NETWORK=${NETWORK:-cuda} DEVICE=${DEVICE:-}
cd "$(dirname "$0")/../.." || exit 1
export WARPWRIGHT_TASKS=${WARPWRIGHT_TASKS:-$PWD/trainer/tasks/suite} PYTHONUNBUFFERED=1
W=$STATE/bin RUN=$STATE/run GRPO=$STATE/grpo KNOWN=$STATE/records.jsonl
begun=$SECONDS
say() { echo "[$((SECONDS - begun)) s] $*"; }
left() { local rest=$((LIMIT - 6 - (SECONDS - begun))); echo $((rest > $1 ? $1 : rest)); } # at most $1 s of what is left
s() { awk -v a="$1" -v b="$SCALE" 'BEGIN {x = int(a * b); print (x > 1 ? x : 1)}'; }
PYTHON=$(command -v "$PYTHON")
export WARPWRIGHT_PYTHON=$PYTHON
mkdir -p "$W" "$OUT" "$RUN" "$GRPO"; chmod 755 "$STATE" "$W" # workers give up root
if [ -n "${FROM:-}" ] && [ -e "$FROM" ]; then # run, grpo, libwarpwright-network.so and merged.jsonl.xz of the other part's OUT
  tar -C "$STATE" -xJf "$FROM" && mv "$STATE/libwarpwright-network.so" "$W/"
  python3 bench/trainer/merge_records.py "$KNOWN" "$STATE/merged.jsonl.xz" --splits training
  for set in families shapes many; do python3 bench/trainer/merge_records.py "$STATE/records_held_$set.jsonl" "$STATE/merged.jsonl.xz" --splits held-out; done
fi
mkdir -p "$STATE/weights" && cp -u trainer/weights/policy.safetensors "$STATE/weights/"
for program in warpwright warpwright-runner warpwright-collect warpwright-train warpwright-worker-cpu; do
  [ -x "$W/$program" ] || cp "$BIN/$program" "$W/" 2>/dev/null
done
[ -d "$W/torch" ] || { cp -r "$BIN/torch" "$W/" && cp -r runner/torch/python/. "$W/torch/" && cp -r runtime/warpwright_runtime "$W/torch/"; }
[ -z "$DEVICE" ] && DEVICE=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1 | awk '{print $NF}')
if [ ! -e "$W/libwarpwright-network.so" ]; then
  if [ "$DEVICE" = cpu ]; then cp "$BIN/libwarpwright-network.so" "$W/"; else
    (bash scripts/build_network.sh "$PYTHON" "$W.building" > "$OUT/network.txt" 2>&1 && mv "$W.building"/*.so "$W/") & NET=$!; fi
fi
IFS=, read -ra gpus <<< "${CUDA_VISIBLE_DEVICES:-0}"
OTHER=one OTHER_GPU=${gpus[0]} # the runner and the GPU of what goes on beside
[ "${#gpus[@]}" -ge 2 ] && OTHER=other OTHER_GPU=${gpus[1]}
nvidia-smi -i "$(IFS=,; echo "${gpus[*]}")" --query-gpu=timestamp,index,utilization.gpu,clocks.sm --format=csv,noheader,nounits -lms 500 > "$OUT/busy.$PART.csv" 2>/dev/null &
SMI=$!
T=$W/warpwright-train C=$W/warpwright-collect
DAEMONS=()

# Runs a runner that several clients share: start_runner NAME GPU...
start_runner() {
  local name=$1; shift
  local port=$((20000 + RANDOM % 20000))
  (export CUDA_VISIBLE_DEVICES; CUDA_VISIBLE_DEVICES=$(IFS=,; echo "$*")
    exec "$W/warpwright-runner" serve --socket "$STATE/$name.sock" --workers-per-gpu "${WORKERS:-3}" --metrics 127.0.0.1:$port) > "$OUT/runner_$name.$PART.txt" 2>&1 &
  DAEMONS+=($!)
  (while sleep 5; do curl -s --max-time 2 "http://127.0.0.1:$port/metrics" > "$OUT/$name.new" && mv "$OUT/$name.new" "$OUT/runner_$name.$PART.metrics"; done) 2>/dev/null &
  DAEMONS+=($!)
  for _ in $(seq 100); do [ -S "$STATE/$name.sock" ] && return; sleep 0.1; done
}
# live RUNNER RECORDS IN_FLIGHT KIND: how a stage measures, in the array `live`
live() {
  live=(--env live --records "$2" --quiet --set "environment.runner=\"unix:$STATE/$1.sock\"" --set "environment.device=\"$DEVICE\""
    --set "environment.warpwright=\"$W/warpwright\"" --set "environment.in_flight=$3" --set environment.env_processes=6
    --set "environment.measure_budget_ms=${BUDGET:-50}" --set "tasks.kinds=[\"$4\"]")
}
on_network=(--set "run.device=\"$NETWORK\"")
keep() { # results so far: a part may be ended from outside
  local folder file
  exec 8> "$STATE/keep.lock"; flock 8
  for folder in "$STATE"/*/; do
    folder=$(basename "$folder")
    [ -e "$STATE/$folder/log.jsonl" ] || continue
    mkdir -p "$OUT/$folder"
    cp "$STATE/$folder"/*.jsonl "$OUT/$folder/" 2>/dev/null
    for file in "$STATE/$folder"/*.safetensors; do
      case $file in *checkpoint*|*'*'*) ;; *) cp -u "$file" "$OUT/$folder/" ;; esac
    done
  done
  cp -u "$W/libwarpwright-network.so" "$OUT/" 2>/dev/null
  python3 bench/trainer/merge_records.py "$OUT/merged.jsonl" "$KNOWN" "$STATE"/records_*.jsonl > "$OUT/merged.txt" && xz -1 -f "$OUT/merged.jsonl"
  exec 8>&-
}
(while sleep "${KEEP_EVERY:-25}"; do keep; done) > /dev/null 2>&1 &
KEEPER=$!
# stage NAME LIMIT ARGUMENTS...: within what is left; says how it went
stage() {
  local name=$1 limit; limit=$(left "$2"); shift 2
  [ "$limit" -lt 4 ] && { say "$name: no time left"; return 1; }
  say "$name, at most $limit s"
  timeout -k 6 "$limit" "$@" >> "$OUT/$name.$PART.txt" 2>&1
  local status=$?
  say "$name ended with $status"
  return $status
}
gather() { python3 bench/trainer/merge_records.py "$KNOWN" "$KNOWN" "$@" > "$OUT/gathered.txt"; say "verdicts: $(cat "$OUT/gathered.txt")"; }

# ---- learning ----
learn() {
  start_runner one "${gpus[0]}"
  [ "$OTHER" = other ] && start_runner other "$OTHER_GPU"
  local until=$((SECONDS + $(s "${COLLECT:-90}")))
  live "$OTHER" "$STATE/records_torch.jsonl" 6 torch
  stage collect_torch $((until - SECONDS)) "$C" collect "${live[@]}" --seed "$SEED" --out "$STATE/collect_torch" --set collect.trials="$(s 10)" \
    --set 'collect.strategies=["random","evolve"]' --set 'collect.splits=["training"]' --set tasks.at_most="${TORCH:-30}" --set collect.seconds=$((until - SECONDS - 4)) & local torch=$!
  live one "$STATE/records_cuda.jsonl" 20 cuda
  stage collect $((until - SECONDS)) "$C" collect "${live[@]}" --seed "$SEED" --out "$STATE/collect" --set collect.trials="$(s 24)" \
    --set 'collect.strategies=["random","evolve"]' --set 'collect.splits=["training"]' --set tasks.at_most="${CUDA:-0}" --set collect.seconds=$((until - SECONDS - 4))
  wait "$torch"
  touch "$KNOWN"
  gather "$STATE/records_cuda.jsonl" "$STATE/records_torch.jsonl"
  [ -n "${NET:-}" ] && wait "$NET"
  # What an earlier collection measured at other shapes is imitated too; its states are of then, so nothing is measured from them.
  python3 bench/trainer/merge_records.py "$STATE/imitated.jsonl" "$KNOWN" bench/results/trainer/records.jsonl.xz --splits training > "$OUT/imitated.txt"
  stage sft "${SFT:-40}" "$T" sft --env recorded --records "$STATE/imitated.jsonl" --quiet "${on_network[@]}" --out "$RUN" --set sft.steps="${SFT_STEPS:-600}" --set sft.batch="${SFT_BATCH:-32}"
  keep
  cp "$KNOWN" "$STATE/records_selfsup.jsonl"
  live one "$STATE/records_selfsup.jsonl" 24 cuda
  local selfsup=("$T" selfsup --seed "$SEED" --out "$RUN" --weights "$RUN/sft.safetensors" --set selfsup.proposals="$(s 64)" --set selfsup.steps=20)
  stage selfsup "$(s 40)" "${selfsup[@]}" "${live[@]}" "${on_network[@]}" --set selfsup.rounds=2 --set tasks.at_most="${CUDA:-0}"
  ends_as_it_stands "$RUN/selfsup" "${selfsup[@]}" --records "$STATE/records_selfsup.jsonl" --set selfsup.rounds=1
  [ -e "$RUN/selfsup.safetensors" ] || { say "selfsup took no step"; cp "$RUN/sft.safetensors" "$RUN/selfsup.safetensors"; }
  gather "$STATE/records_selfsup.jsonl"
  keep
  local end; end=$(left "$(s "${REINFORCE:-200}")")
  reinforce contrastive "$RUN" "$end" one "${gpus[0]}" & local first=$!
  reinforce grpo "$GRPO" "$end" "$OTHER" "$OTHER_GPU" & local second=$!
  wait "$first" "$second"
  gather "$STATE/records_contrastive.jsonl" "$STATE/records_grpo.jsonl"
  keep
}
# ends_as_it_stands WEIGHTS COMMAND...: a stage that was stopped at its limit writes the weights of its last checkpoint
ends_as_it_stands() {
  [ -e "$1.safetensors" ] && return
  timeout 30 "${@:2}" --env recorded --quiet --set 'tasks.kinds=["cuda"]' >> "$OUT/$(basename "$1").ended.txt" 2>&1
}
reinforce() { # VARIANT FOLDER SECONDS RUNNER GPU
  local name=rl_$1 live
  cp "$KNOWN" "$STATE/records_$1.jsonl"
  live "$4" "$STATE/records_$1.jsonl" 20 cuda
  local rl=("$T" rl --variant "$1" --out "$2" --weights "$RUN/selfsup.safetensors" --seed "$SEED" --set rl.groups="${GROUPS_A_STEP:-8}" --set rl.group_size=8
    --set rl.checkpoint_every=1 --set rl.best_of=4 --set tasks.at_most="${CUDA:-0}")
  CUDA_VISIBLE_DEVICES=$5 stage "$name" "$3" "${rl[@]}" "${live[@]}" "${on_network[@]}" --set rl.steps="$(s 1000)"
  ends_as_it_stands "$2/rl" "${rl[@]}" --records "$STATE/records_$1.jsonl" --set rl.steps=1
}

# ---- judging: sessions propose on CPU cores, without LibTorch, so that nothing runs beside a measurement ----
families='["attention","loss","stencil"]' shapes='["convolution","elementwise","gather","histogram","matmul","normalisation","reduction","scan","softmax","transpose"]'
few='["attention","loss","stencil","elementwise","matmul","softmax"]'
main="\"builtin:$RUN/rl.safetensors@4\",\"random@8\",\"builtin:$RUN/sft.safetensors@4\",\"builtin:$RUN/untrained.safetensors@4\""
rest="\"builtin:$GRPO/rl.safetensors?plain@4\",\"builtin:$RUN/selfsup.safetensors@4\",\"builtin:$STATE/weights/policy.safetensors@4\",\"evolve@4\""
judge() { # RUNNER NAME FAMILIES TASKS POLICIES REPEATS LIMIT MORE...: on with the records of this set of tasks, which no other judging uses at once
  local runner=$1 name=$2 tasks=$4 policies=$5 repeats=$6 limit=$7 live; local of=$3; shift 7
  [ -e "$STATE/judged_${name}_$repeats" ] && return
  live "$runner" "$STATE/records_held_${name%%_*}.jsonl" "${IN_FLIGHT:-24}" cuda
  stage "eval_$name" "$limit" "$C" eval "${live[@]}" --seed "$HELD_SEED" --out "$STATE/eval_$name" --set run.threads=1 --set "tasks.families=$of" --set tasks.at_most="$tasks" \
    --set eval.repeats="$repeats" --set "eval.policies=[$policies]" --set 'eval.k=[1,2,4,8,16,32,64]' "$@" && touch "$STATE/judged_${name}_$repeats"
  keep
}
judge_all() { # RUNNER NAME FAMILIES TASKS LIMIT: everybody once, what matters most first; then a second session, of which the first is known
  local repeats
  for repeats in 1 2; do
    judge "$1" "$2_main" "$3" "$4" "$main" $repeats "$5"
    judge "$1" "$2_rest" "$3" "$4" "$rest" $repeats "$5"
  done
}
judge_families() { judge_all "$1" families "$families" "$FAMILIES" "$2"; }
judge_shapes() { judge_all "$1" shapes "$shapes" "$SHAPES" "$2"; }
judge_many() { # searches with many trials and the best of 256 random ones, on a few tasks; what is cut off has as many trials of each task
  python3 bench/trainer/merge_records.py "$STATE/records_held_many.jsonl" "$STATE"/records_held_{many,families,shapes}.jsonl > /dev/null
  judge "$1" many_policies "$few" "$FEW" "\"builtin:$RUN/rl.safetensors@16\",\"evolve@64\"" 1 "$2"
  judge "$1" many_random "$few" "$FEW" "\"builtin:$RUN/rl.safetensors@1\"" 1 "$2" --set eval.reference_trials="$(s 256)"
}

if [ "$PART" = 1 ]; then
  learn
  [ "$OTHER" = other ] && { judge_shapes other "$LIMIT" & beside=$!; }
  judge_families one "$LIMIT"
  [ -n "${beside:-}" ] && wait "$beside" || judge_shapes one "$LIMIT"
  judge_many one "$LIMIT"
else
  [ -n "${NET:-}" ] && wait "$NET"
  . scripts/gpu/train_beside.sh
fi
keep
kill $SMI $KEEPER "${DAEMONS[@]}" 2>/dev/null
awk -F, '{n[$2]++; s[$2] += $3; idle[$2] += ($3 < 1)} END {for (g in n) printf "GPU%s: mean utilisation %.1f%%, %.1f%% of %d samples idle\n", g, s[g] / n[g], 100 * idle[g] / n[g], n[g]}' "$OUT/busy.$PART.csv"
say "done"
