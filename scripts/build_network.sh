#!/usr/bin/env bash
# Builds libwarpwright-network.so, all of warpwright-train that touches LibTorch, for the torch of a Python: put it beside warpwright-train.
#   scripts/build_network.sh PYTHON FOLDER
# Needs a C++ compiler ($CXX, else g++) and pip's torch 2.x. With NCCL's header among torch's dependencies it can train on several GPUs.
set -euo pipefail
python=${1:?the Python that has torch} folder=${2:?the folder to write to}
source=$(cd "$(dirname "$0")/.." && pwd)
root=$("$python" -c 'import os, torch; print(os.path.dirname(torch.__file__))')
nccl=$("$python" -c 'import os, nvidia.nccl as n; print(list(n.__path__)[0])' 2>/dev/null || true)
cuda=${CUDA_HOME:-/usr/local/cuda}
flags=(-std=c++20 -O2 -fPIC -I"$source" -isystem "$root/include" -isystem "$root/include/torch/csrc/api/include")
links=(-L"$root/lib" -Wl,-rpath,"$root/lib" -lc10 -ltorch_cpu)
if [ -e "$root/lib/libtorch_cuda.so" ]; then
  links+=(-Wl,--no-as-needed -ltorch_cuda -lc10_cuda)
  if [ -n "$nccl" ] && [ -e "$nccl/include/nccl.h" ] && [ -e "$cuda/include/cuda_runtime.h" ]; then
    flags+=(-DWARPWRIGHT_NCCL -isystem "$nccl/include" -isystem "$cuda/include")
  fi
fi
mkdir -p "$folder"
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT
parts=(network process_group transformer) compilers=()
for part in "${parts[@]}"; do # LibTorch's headers take half a minute each: all at once
  "${CXX:-g++}" "${flags[@]}" -c "$source/trainer/network/$part.cpp" -o "$objects/$part.o" &
  compilers+=($!)
done
for compiler in "${compilers[@]}"; do wait "$compiler"; done
"${CXX:-g++}" -shared "$objects"/*.o "${links[@]}" -o "$folder/libwarpwright-network.so"
