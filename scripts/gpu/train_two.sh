#!/usr/bin/env bash
# Reinforcement learning with live rollouts on one GPU, then on two by torchrun and NCCL: verified candidates a second of each, in one run.
# Environment: BIN, OUT, STATE (with the weights and the network library of scripts/gpu/train.sh), PYTHON, SECONDS_EACH.
set -u
BIN=${BIN:?} OUT=${OUT:?} STATE=${STATE:-/tmp/trainstate} PYTHON=${PYTHON:-python3} EACH=${SECONDS_EACH:-45}
cd "$(dirname "$0")/../.." || exit 1
export WARPWRIGHT_TASKS=$PWD/trainer/tasks/suite NCCL_NVLS_ENABLE=0 OMP_NUM_THREADS=4
W=$STATE/bin T=$STATE/two
rm -rf "$T"; mkdir -p "$W" "$OUT" "$T"
for program in warpwright warpwright-runner warpwright-train; do [ -x "$W/$program" ] || cp "$BIN/$program" "$W/"; done
[ -e "$W/libwarpwright-network.so" ] || bash scripts/build_network.sh "$PYTHON" "$W" > "$OUT/network.txt" 2>&1
WEIGHTS=$STATE/run/selfsup.safetensors
if [ ! -e "$WEIGHTS" ]; then
  xz -dc bench/results/trainer/records.jsonl.xz > "$T/known.jsonl"
  "$W/warpwright-train" sft --quiet --records "$T/known.jsonl" --out "$T/sft" --set sft.steps=60 --set "run.device=\"${NETWORK:-cuda}\"" > "$OUT/sft.txt" 2>&1
  WEIGHTS=$T/sft/sft.safetensors
fi
options=(rl --quiet --weights "$WEIGHTS" --env live --set "environment.warpwright=\"$W/warpwright\"" --set "environment.runner=\"stdio:$W/warpwright-runner serve --workers-per-gpu 3\""
  --set "environment.device=\"${DEVICE:-cuda}\"" --set "run.device=\"${NETWORK:-cuda}\"" --set environment.in_flight=16 --set environment.env_processes=5
  --set environment.measure_budget_ms=50 --set 'tasks.kinds=["cuda"]' --set rl.groups=16 --set rl.group_size=8 --set rl.steps=1000 --set rl.temperature=1.5)
TORCHRUN=${TORCHRUN:-"$PYTHON -m torch.distributed.run"}
for count in 1 2; do
  timeout -k 8 "$EACH" $TORCHRUN --standalone --no-python --nproc-per-node $count "$W/warpwright-train" "${options[@]}" \
    --out "$T/on$count" --records "$T/on$count.jsonl" > "$OUT/on$count.txt" 2>&1
  echo "$count processes ended with $?"
  cp "$T/on$count/log.jsonl" "$OUT/on$count.log.jsonl"
done
"$PYTHON" bench/trainer/rate.py "$T" | tee "$OUT/two.json"
xz -6 -c "$T"/on*.jsonl* > "$OUT/records.jsonl.xz"
