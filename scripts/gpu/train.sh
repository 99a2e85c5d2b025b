#!/usr/bin/env bash
# The trainer's whole pipeline on the GPUs that are visible, in parts of limited length; every stage goes on where the part before ended.
#   PART=1  collect, sft, selfsup, reinforcement live (contrastive, then grpo), random search on held-out tasks
#   PART=2  what part 1 left, then: evaluation of every stage, the adversary suite as actions, a naive loop beside, more random search
# Environment: BIN (folder of the programs), OUT (results), STATE (kept between parts), PART, PYTHON (has torch: its LibTorch is used).
# Learned from are all CUDA tasks of the training split at SHAPES shapes each (the first run: 1).
# Held-out tasks are those of HELD_SEED: HELD_FAMILIES of whole families, HELD_SHAPES of shapes of training families; FEW of both get 256 random trials.
set -u
BIN=${BIN:?} OUT=${OUT:?} STATE=${STATE:-/tmp/trainstate} PART=${PART:-1} PYTHON=${PYTHON:-python3}
HELD_FAMILIES=${HELD_FAMILIES:-6} HELD_SHAPES=${HELD_SHAPES:-10} FEW=${FEW:-6} HELD_SEED=${HELD_SEED:-7} SHAPES=${SHAPES:-2} SCALE=${SCALE:-1} LIMIT=${LIMIT:-545} DEVICE=${DEVICE:-}
cd "$(dirname "$0")/../.." || exit 1
export WARPWRIGHT_TASKS=$PWD/trainer/tasks/suite
W=$STATE/bin RUN=$STATE/run GRPO=$STATE/grpo RECORDS=$STATE/records.jsonl NETWORK=${NETWORK:-cuda}
mkdir -p "$W" "$OUT" "$STATE"
begun=$SECONDS
say() { echo "[$((SECONDS - begun)) s] $*"; }
left() { echo $((LIMIT - (SECONDS - begun) > $1 ? $1 : LIMIT - (SECONDS - begun))); } # at most $1 s of what is left
for program in warpwright warpwright-runner warpwright-collect warpwright-train warpwright-worker-cpu; do
  [ -x "$W/$program" ] || cp "$BIN/$program" "$W/" 2>/dev/null
done
[ -z "$DEVICE" ] && DEVICE=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1 | awk '{print $NF}')
if [ ! -e "$RECORDS" ]; then
  xz -dc bench/results/trainer/records.jsonl.xz > "$RECORDS" 2>/dev/null || rm -f "$RECORDS"
fi
NET=
if [ ! -e "$W/libwarpwright-network.so" ]; then
  (bash scripts/build_network.sh "$PYTHON" "$W.building" > "$OUT/network.txt" 2>&1 && mv "$W.building"/*.so "$W/") &
  NET=$!
fi
nvidia-smi ${CUDA_VISIBLE_DEVICES:+-i $CUDA_VISIBLE_DEVICES} --query-gpu=timestamp,index,utilization.gpu,clocks.sm --format=csv,noheader,nounits -lms 500 > "$OUT/busy.$PART.csv" 2>/dev/null &
SMI=$!

live=(--env live --records "$RECORDS" --quiet --set "environment.runner=\"stdio:$W/warpwright-runner serve --workers-per-gpu 3 --metrics 127.0.0.1:9190\""
  --set "environment.device=\"$DEVICE\"" --set "environment.warpwright=\"$W/warpwright\"" --set environment.in_flight=24
  --set environment.env_processes=8 --set "environment.measure_budget_ms=${BUDGET:-50}" --set 'tasks.kinds=["cuda"]')
on_gpu=(--set "run.device=\"$NETWORK\"")
recorded=(--env recorded --records "$RECORDS" --quiet "${on_gpu[@]}")
keep() { # results so far: a part may be ended from outside
  local folder weights
  for folder in run grpo collect eval_families eval_shapes random adversary; do
    [ -d "$STATE/$folder" ] || continue
    mkdir -p "$OUT/$folder"
    cp "$STATE/$folder"/*.jsonl "$OUT/$folder/" 2>/dev/null
    for weights in "$STATE/$folder"/*.safetensors; do
      case $weights in *checkpoint*|*'*'*) ;; *) cp -u "$weights" "$OUT/$folder/" ;; esac
    done
  done
  [ -e "$RECORDS" ] && xz -1 -c "$RECORDS" > "$OUT/records.jsonl.xz"
}
# STAGE LIMIT ARGUMENTS...: within what is left; says how it went. Stopped stages go on in the next part.
stage() {
  local name=$1 limit; limit=$(left "$2"); shift 2
  [ "$limit" -lt 5 ] && { say "$name: no time left"; return 1; }
  say "$name, at most $limit s"
  while sleep 3; do curl -s --max-time 2 http://127.0.0.1:9190/metrics > "$OUT/new.metrics" && mv "$OUT/new.metrics" "$OUT/$name.$PART.metrics"; done 2>/dev/null &
  local watcher=$!
  timeout -k 8 "$limit" "$@" >> "$OUT/$name.$PART.txt" 2>&1
  local status=$?
  kill $watcher 2>/dev/null; wait $watcher 2>/dev/null
  keep
  say "$name ended with $status, $(grep -c '"verdict"' "$RECORDS") verdicts"
  return $status
}
T=$W/warpwright-train C=$W/warpwright-collect
s() { awk -v a="$1" -v b="$SCALE" 'BEGIN {x = int(a * b); print (x > 1 ? x : 1)}'; } # scaled steps
families='["attention","loss","stencil"]' shapes='["convolution","elementwise","gather","histogram","matmul","normalisation","reduction","scan","softmax","transpose"]' few='["attention","loss","stencil","elementwise","matmul","softmax"]'

learn() {
  [ -e "$STATE/collected" ] || { stage collect "$(s 140)" "$C" collect "${live[@]}" --out "$STATE/collect" --set tasks.shapes="$SHAPES" --set collect.trials="$(s 24)" \
    --set 'collect.strategies=["random","evolve"]' --set 'collect.splits=["training"]' --set collect.seconds="$(s 126)"; touch "$STATE/collected"; }
  [ -n "$NET" ] && wait "$NET"
  [ -e "$RUN/sft.safetensors" ] || stage sft 60 "$T" sft "${recorded[@]}" --out "$RUN" --set sft.steps="$(s "${SFT_STEPS:-400}")" --set sft.batch=32
  [ -e "$RUN/selfsup.safetensors" ] || stage selfsup 90 "$T" selfsup "${live[@]}" "${on_gpu[@]}" --set tasks.shapes="$SHAPES" --out "$RUN" --weights "$RUN/sft.safetensors" \
    --set selfsup.rounds=3 --set selfsup.proposals=48 --set selfsup.steps=20
  rl=(rl --set tasks.shapes="$SHAPES" --weights "$RUN/selfsup.safetensors" --set rl.groups=8 --set rl.group_size=8 --set rl.checkpoint_every=2 --set rl.best_of=4)
  [ -e "$RUN/rl.safetensors" ] || stage rl 200 "$T" "${rl[@]}" "${live[@]}" "${on_gpu[@]}" --out "$RUN" --set rl.steps="$(s "${RL_STEPS:-28}")"
  [ -e "$GRPO/rl.safetensors" ] || stage rl_grpo 150 "$T" "${rl[@]}" --variant grpo "${live[@]}" "${on_gpu[@]}" --out "$GRPO" --set rl.steps="$(s "${RL_STEPS:-28}")"
}
random_search() { # the best of 256 random trials on some of the held-out tasks; measured ones are in the records, so it goes on
  stage random "$1" "$C" eval "${live[@]}" --seed "$HELD_SEED" --out "$STATE/random" --set "eval.policies=$2" --set eval.reference_trials=256 \
    --set run.threads=1 --set eval.repeats=1 --set "tasks.families=$few" --set tasks.at_most="$FEW"
}
judge() { # NAME FAMILIES TASKS LIMIT: sessions propose on CPU cores, without LibTorch, so that nothing runs beside a measurement
  [ -e "$RUN/rl.safetensors" ] || { say "judge $1: no weights yet"; return 1; }
  stage "eval_$1" "$4" "$C" eval "${live[@]}" --seed "$HELD_SEED" --out "$STATE/eval_$1" --set run.threads=1 --set "tasks.families=$2" --set tasks.at_most="$3" \
    --set eval.repeats=4 --set 'eval.k=[1,2,4,8,16]' --set "eval.policies=[\"builtin:$RUN/rl.safetensors\",\"random@16\",
    \"builtin:$RUN/sft.safetensors@4\",\"builtin:$RUN/selfsup.safetensors@4\",\"builtin:$RUN/untrained.safetensors@4\",
    \"builtin:$GRPO/rl.safetensors?plain@4\",\"evolve@16\"]"
}

if [ "$PART" = 1 ]; then
  learn
  random_search "$(s 130)" '[]'
else
  learn
  judge families "$families" "$HELD_FAMILIES" "$(s 130)"
  judge shapes "$shapes" "$HELD_SHAPES" "$(s 170)"
  rm -rf "$STATE/adversary"; mkdir -p "$STATE/adversary"
  stage adversary "$(s 75)" "$T" rl "${live[@]}" "${on_gpu[@]}" --out "$STATE/adversary" --weights "$RUN/rl.safetensors" --set rl.steps=25 --set rl.groups=2 \
    --set rl.group_size=4 --set rl.adversary=true --set tasks.at_most=8 --set environment.measure_budget_ms=300
  stage naive 30 "$PYTHON" bench/trainer/naive_loop.py --bin "$W" --device "$DEVICE" --seconds "$(s 20)" --budget-ms "${BUDGET:-50}" --out "$OUT/naive.json"
  random_search "$(s 180)" "[\"builtin:$RUN/rl.safetensors@16\",\"random@16\",\"evolve@64\"]"
fi
kill $SMI 2>/dev/null
awk -F, '{n++; s += $3; idle += ($3 < 1)} END {if (n) printf "GPU: mean utilisation %.1f%%, %.1f%% of %d samples idle\n", s / n, 100 * idle / n, n}' "$OUT/busy.$PART.csv"
rm -f "$OUT/new.metrics"
say "done"
