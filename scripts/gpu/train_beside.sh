# Parts 2 and 3 of scripts/gpu/train.sh, which sources it. Part 2: the last GPU judges all the time,
# with four the third too; the others show reinforcement on one GPU and on two, then go on apart.
# With two GPUs the judging pauses while both are needed. Each GPU has its share of the cores, so
# that its figures are its own.
count=${#gpus[@]}
mapfile -t cores < <(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)), sep="\n")')
of_gpu() { # the cores of the GPUs numbered $1 to $2
  local each=$((${#cores[@]} / count)); [ "$each" -lt 1 ] && { echo "${cores[0]}"; return; }
  (IFS=,; echo "${cores[*]:$1 * each:($2 - $1 + 1) * each}")
}
on_cores() { taskset -c "$(of_gpu "$1" "$2")" "${@:3}"; }
here() { taskset -cp "$(of_gpu "$1" "$2")" $BASHPID > /dev/null; } # this subshell and what it starts
last=$((count - 1))

two() { # 1 or 2 processes, each with a GPU; the rate is that of verdicts on answers that nobody knew
  local processes=$1 limit
  limit=$(left "${EACH:-42}")
  [ "$limit" -lt 10 ] && return
  say "reinforcement on $processes, $limit s"
  (here 0 $((processes - 1)); export CUDA_VISIBLE_DEVICES=${gpus[0]}; [ "$processes" = 2 ] && CUDA_VISIBLE_DEVICES=${gpus[0]},${gpus[1]}
    export NCCL_NVLS_ENABLE=0 OMP_NUM_THREADS=4
    exec timeout -k 12 "$limit" ${TORCHRUN:-$PYTHON -m torch.distributed.run} --standalone --no-python --nproc-per-node "$processes" "$T" rl --quiet --weights "$RUN/selfsup.safetensors" \
      --env live --set "environment.warpwright=\"$W/warpwright\"" --set "environment.runner=\"stdio:$W/warpwright-runner serve --workers-per-gpu 3\"" \
      --set "environment.device=\"${TWO_DEVICE:-cuda}\"" --set "run.device=\"$NETWORK\"" --set environment.in_flight=20 --set environment.env_processes=5 \
      --set environment.measure_budget_ms="${BUDGET:-50}" --set 'tasks.kinds=["cuda"]' --set tasks.at_most=20 --seed 3 --set rl.groups=16 --set rl.group_size=8 --set rl.steps=1000 \
      --set rl.temperature=1.5 --set rl.confirm_above=1000000 --out "$STATE/two/on$processes" --records "$STATE/two/on$processes.jsonl") > "$OUT/on$processes.txt" 2>&1
  say "reinforcement on $processes ended with $?"
  pgrep -f -- "--records $STATE/two/on$processes.jsonl" | xargs -r kill -9 # torchrun's children have sessions of their own
  mkdir -p "$OUT/two"; cp "$STATE/two/on$processes/log.jsonl" "$OUT/two/on$processes.log.jsonl"
  cp "$STATE"/two/on"$processes".jsonl* "$OUT/two/"
  "$PYTHON" bench/trainer/rate.py "$STATE/two" > "$OUT/two.json"
}
naive() { CUDA_VISIBLE_DEVICES=${gpus[0]} stage naive "${NAIVE:-15}" "$PYTHON" bench/trainer/naive_loop.py --bin "$W" --device "$DEVICE" --seconds $((${NAIVE:-15} - 3)) --budget-ms "${BUDGET:-50}" --out "$OUT/naive.json"; }
adversary() {
  local live
  live first "$STATE/adversary.jsonl" 16 cuda
  stage adversary "${ADVERSARY:-75}" "$T" rl "${live[@]}" "${on_network[@]}" --out "$STATE/adversary" --weights "$RUN/rl.safetensors" --set rl.steps=22 --set rl.groups=1 \
    --set rl.group_size=2 --set rl.adversary=true --set tasks.at_most=6 --set environment.measure_budget_ms=200
  keep
}
against_search() { # the examples, then held-out kernels as far as the time goes
  local folder=$STATE/held_sources limit
  mkdir -p "$folder" "$OUT/against"
  "$C" tasks --split held-out --variations 1 --seed 23 --at-most 28 --write "$folder" > /dev/null
  limit=$(left "${AGAINST:-200}")
  [ "$limit" -lt 10 ] && return
  say "policy against search, $limit s"
  CUDA_VISIBLE_DEVICES=${gpus[0]} WARPWRIGHT_WEIGHTS=$RUN/rl.safetensors timeout -k 4 "$limit" python3 bench/proposals/policy_against_search.py "$W/warpwright" "$OUT/against" \
    --variants 4 --budget 15s examples/*.cu "$folder"/*.cu > "$OUT/against.txt" 2>&1
  say "policy against search ended with $?"
}

rm -rf "$STATE/two" "$STATE/adversary" "$STATE/adversary.jsonl"; mkdir -p "$STATE/two"
judging() { # RUNNER: what part 1 left
  judge_shapes "$1" "$LIMIT"; judge_families "$1" "$LIMIT"
}
if [ "$PART" = 3 ]; then
  lanes=() first=0 # of the GPUs that judge
  [ "$count" -ge 2 ] && [ "${AGAINST:-200}" -gt 0 ] && { first=1; (here 0 0; against_search) & lanes+=($!); }
  (here $first $last; start_runner many "${gpus[@]:$first}"; judge_many many "$LIMIT"; kill "${DAEMONS[@]}") & lanes+=($!)
elif [ "$count" -ge 3 ]; then
  lanes=()
  if [ "$count" -ge 4 ]; then
    (here 2 2; start_runner third "${gpus[2]}"; judge_families third "$LIMIT"; kill "${DAEMONS[@]}") & lanes+=($!)
    (here $last $last; start_runner last "${gpus[$last]}"; judge_shapes last "$LIMIT"; kill "${DAEMONS[@]}") & lanes+=($!)
  else
    (here $last $last; start_runner last "${gpus[$last]}"; judging last; [ -n "${MANY_TOO:-}" ] && judge_many last "$LIMIT"; kill "${DAEMONS[@]}") & lanes=($!)
  fi
  two 1; two 2
  (here 1 1; start_runner second "${gpus[1]}"; judge_many second "$LIMIT"; kill "${DAEMONS[@]}") & lanes+=($!)
elif [ "$count" = 2 ]; then
  (here 1 1; start_runner early "${gpus[1]}"; judge_shapes early "${EACH:-42}"; kill "${DAEMONS[@]}") & early=$!
  two 1; wait "$early"; two 2
  (here 1 1; start_runner second "${gpus[1]}"; judge_many second "$LIMIT"; judging second; kill "${DAEMONS[@]}") & lanes=($!)
else
  start_runner second "${gpus[0]}"; judging second; judge_many second "$LIMIT"; lanes=()
fi
if [ "$PART" = 2 ] && [ "$count" -ge 2 ]; then
  (here 0 0; start_runner first "${gpus[0]}"; naive; adversary; kill "${DAEMONS[@]}"; against_search) & lanes+=($!)
fi
[ "${#lanes[@]}" -gt 0 ] && wait "${lanes[@]}"
