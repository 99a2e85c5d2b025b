#!/usr/bin/env bash
# Runs HeCBench's programs a to m on a machine with an NVIDIA GPU, nvcc, g++ and make; without downloads, and Clang is not
# needed. Run it again with the same OUT_DIR to continue. Writes OUT_DIR/programs.jsonl and OUT_DIR/table.md.
# usage: scripts/gpu/programs.sh BIN_DIR HECBENCH OUT_DIR [options of bench/programs/run.py, as --for 9m --only adam,bfs]
# HECBENCH is a checkout, or the archive of bench/programs/pack.py, which is unpacked into build/.
set -euo pipefail
bin=$(realpath "$1")
source=$(realpath "$2")
out=$(realpath -m "$3")
shift 3
cd "$(dirname "$0")/../.."
export PATH="$PATH:${CUDA_HOME:-/usr/local/cuda}/bin"
if [ -f "$source" ]; then
  unpacked=build/hecbench
  if [ ! -e "$unpacked/COMMIT" ]; then
    mkdir -p "$unpacked"
    tar -C "$unpacked" -xJf "$source"
  fi
  source=$unpacked
fi
mkdir -p "$out"
{
  nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || echo "no nvidia-smi"
  nvcc --version | tail -n 1
  g++ --version | head -n 1
  echo "HeCBench $(cat "$source/COMMIT" 2>/dev/null || git -C "$source" rev-parse HEAD 2>/dev/null || echo unknown)"
  "$bin/warpwright" --version
} | tee "$out/machine.txt"
exec python3 -B bench/programs/run.py "$source" --bin "$bin" --out "$out" "$@"
