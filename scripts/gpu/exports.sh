#!/usr/bin/env bash
# Whether exports run their kernels and stay right when their module changes, on a machine with a GPU, torch and the modules' libraries.
#   real     bench/real in evaluation mode, float32 and bfloat16: optimized, exported, checked
#   cli      three of them through `warpwright optimize FILE`, which must choose the mode that users call them in
#   small    two pointwise modules without submodules, which FORM=standalone is for
#   modules  bench/modules, and
#   bench    KernelBench (KERNELBENCH=DIR_OR_TAR, of SIZES=original or current): exports written again from bench/results/h200's plans without a search, checked
# Parts can be ended and run again: they go on from $STATE. Each writes OUT/PART.jsonl (results), OUT/PART.check.json (what
# tests/torch/export_check.py found) and OUT/log.txt.
# A call of ten minutes holds "small real cli" (the default), "modules" or "bench".
# usage: [PART="small real cli"] [FORM=standalone] [BUDGET_S=560] [JOBS=6] [KERNELBENCH=... SIZES=current] [STATE=build/exports] scripts/gpu/exports.sh ARCHIVE OUT
# FORM=package, the default: exports import the package and have plan files. FORM=standalone: those that can stand alone do.
# (ARCHIVE is scripts/gpu/pack.sh's, or a build's bin directory)
set -uo pipefail
begun=$SECONDS
archive=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
kernelbench=${KERNELBENCH:+$(realpath "$KERNELBENCH")}
cd "$(dirname "$0")/../.." || exit 1
state=$(realpath -m "${STATE:-build/exports}")
jobs=${JOBS:-6}
mkdir -p "$state"
if [ -d "$archive" ]; then
  bin=$archive
else
  bin=$state/bin
  [ -d "$bin" ] && [ ! "$archive" -nt "$bin" ] || { tar -C "$state" -xJf "$archive" && touch "$bin"; } || exit 1
fi
chmod 755 "$state" # workers give up root
case ${FORM:-package} in
package) form= ;;
standalone) form=--standalone ;;
*) echo "FORM is package or standalone" >&2 && exit 1 ;;
esac
export PYTHONPATH=$bin/torch # a plan that cannot stand alone needs it in both forms
export PYTHONUNBUFFERED=1 XDG_CACHE_HOME=$state/cache PYTHONWARNINGS=ignore
failed=0 planning=
left() { echo $((${BUDGET_S:-560} - (SECONDS - begun))); }
note() { echo "== $* (at $((SECONDS - begun)) s)" | tee -a "$out/log.txt"; }

plans() { # plans NAME FOLDER SECONDS OPTIONS...: of a folder's tasks, exported into $state/NAME
  local name=$1 folder=$2 seconds=$3
  shift 3
  [ "$seconds" -gt 20 ] || { note "no time for $name"; return; }
  note "$name: plans, $seconds s"
  mkdir -p "$state/$name"
  timeout -k 10 $((seconds + 60)) "$bin/warpwright" optimize --kernelbench "$folder" --results "$state/$name.jsonl" \
    --export "$state/$name" $form --json "$state/$name.json" --minutes "$(python3 -c "print($seconds / 60)")" "$@" \
    >"$state/$name.log" 2>&1 &
  planning=$!
}
checked() { # checked NAME MODE OPTIONS...: each export in a fresh Python, as they are written
  local name=$1 mode=$2
  shift 2
  note "$name: checking in mode $mode"
  timeout -k 10 $(($(left) + 10)) python3 tests/torch/export_check.py --mode "$mode" "$@" --jobs "$jobs" --seconds "$(left)" \
    --json "$state/$name.check.json" ${planning:+--follow "$planning"} "$state/$name" >"$out/$name.check.txt" 2>&1 || failed=$((failed + 1))
  [ -z "$planning" ] || wait "$planning"
  cp "$state/$name.jsonl" "$state/$name.check.json" "$out/" 2>/dev/null
  { grep -E '^\[' "$state/$name.log" | cut -c1-200; tail -n 5 "$state/$name.log"; cut -c1-400 "$out/$name.check.txt"; } | tee -a "$out/log.txt"
}
bf16() { # bf16 FROM TO: the same modules in bfloat16
  rm -rf "$2"
  cp -r "$1" "$2"
  find "$2" -name '*.py' -exec sed -i 's/^DTYPE = torch.float32$/DTYPE = torch.bfloat16/' {} +
}
recipes() { # recipes FILE.json.xz KEY...: the results in it, as --results writes them
  python3 - "$@" <<'RECIPES'
import json, lzma, sys
document = json.load(lzma.open(sys.argv[1]))
for key in sys.argv[2:]:
    document = document[key]
print("\n".join(json.dumps(line) for line in document))
RECIPES
}

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | tee "$out/gpu.txt" | tee -a "$out/log.txt"
python3 -c 'import sys, torch, transformers, torchvision; print("Python", sys.version.split()[0], "torch", torch.__version__, "transformers", transformers.__version__, "torchvision", torchvision.__version__)' 2>&1 |
  tail -n 1 | tee -a "$out/log.txt"
for part in ${PART:-small real cli}; do
  case $part in
  small)
    mkdir -p "$state/small_tasks/level1"
    for task in "1_gated relu(x*self.weight*self.scale)" "2_silu sigmoid(x)*x+self.weight"; do
      sed "s/FORWARD/${task#* }/" >"$state/small_tasks/level1/${task%% *}.py" <<'SMALL'
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 0.5
        self.weight = torch.nn.Parameter(torch.rand(1024))

    def forward(self, x):
        return torch.FORWARD


def get_inputs():
    return [torch.randn(4096, 1024)]


def get_init_inputs():
    return []
SMALL
    done
    plans small "$state/small_tasks" $(($(left) / 8)) --max-variants 3
    wait "$planning"
    checked small made --compile
    ;;
  real)
    share=$(($(left) * 45 / 100))
    bf16 bench/real "$state/real_bf16_tasks"
    for dtype in real real_bf16; do
      folder=bench/real
      [ "$dtype" = real ] || folder=$state/real_bf16_tasks
      plans $dtype "$folder" "$share" --mode eval --max-variants 3 --search-seconds 0.08 --measure-seconds 0.15
      wait "$planning" # checks would be in the way of what it measures
      checked $dtype eval
    done
    ;;
  cli)
    rm -rf "$state/cli" && mkdir -p "$state/cli"
    for file in level1/07_bert_layer level1/04_llama_mlp level2/01_resnet_basic_block; do
      note "warpwright optimize $file"
      timeout 100 "$bin/warpwright" optimize "bench/real/$file.py" --budget 25s --max-variants 4 --apply --ledger "$state/cli/ledger.db" \
        --output "$state/cli/$(basename $file).py" $form 2>&1 | tail -n 12 | cut -c1-200 | tee -a "$out/log.txt"
    done
    planning=
    checked cli eval
    ;;
  modules)
    recipes bench/results/h200/modules.json.xz run >"$state/modules.from.jsonl"
    plans modules bench/modules $(($(left) * 80 / 100)) --from "$state/modules.from.jsonl" --max-variants 2 --no-measure
    checked modules made
    ;;
  bench)
    [ -n "$kernelbench" ] || { note "KERNELBENCH is not set: left out"; continue; }
    if [ ! -d "$kernelbench" ]; then
      mkdir -p "$state/kernelbench" && tar -C "$state/kernelbench" -xf "$kernelbench" && kernelbench=$state/kernelbench
    fi
    name=bench_${SIZES:-current}
    recipes bench/results/h200/kernelbench_all.json.xz runs "${SIZES:-current}" >"$state/$name.from.jsonl"
    plans "$name" "$kernelbench" $(($(left) * 80 / 100)) --level 1,2,3 --from "$state/$name.from.jsonl" --max-variants 1 --no-measure
    checked "$name" made
    ;;
  *) note "there is no part $part" && failed=$((failed + 1)) ;;
  esac
done
note "$failed step(s) failed"
exit "$failed"
