#!/usr/bin/env bash
# Builds libwarpwright-network.so, all of warpwright-train that touches LibTorch, for the torch of a Python: put it next to warpwright-train.
#   scripts/build_network.sh PYTHON FOLDER
# Needs a C++ compiler ($CXX, else g++) and pip's torch 2.x. With NCCL's header among torch's dependencies it can train on several GPUs.
set -euo pipefail
python=${1:?the Python that has torch} folder=${2:?the folder to write to}
source=$(cd "$(dirname "$0")/.." && pwd)
root=$("$python" -c 'import os, torch; print(os.path.dirname(torch.__file__))')
nccl=$("$python" -c 'import os, nvidia.nccl as n; print(list(n.__path__)[0])' 2>/dev/null || true)
cuda=${CUDA_HOME:-/usr/local/cuda}
flags=(-std=c++20 -O2 -fPIC -I"$source" -isystem "$root/include" -isystem "$root/include/torch/csrc/api/include")
with_nccl=()
links=(-L"$root/lib" -Wl,-rpath,"$root/lib" -lc10 -ltorch_cpu)
if [ -e "$root/lib/libtorch_cuda.so" ]; then
  links+=(-Wl,--no-as-needed -ltorch_cuda -lc10_cuda)
  if [ -n "$nccl" ] && [ -e "$nccl/include/nccl.h" ] && [ -e "$cuda/include/cuda_runtime.h" ]; then
    with_nccl=(-DWARPWRIGHT_NCCL -isystem "$nccl/include" -isystem "$cuda/include")
  fi
fi
mkdir -p "$folder"
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT
compile() { # LibTorch's headers take half a minute a file: all at once
  local compilers=() failed=0 part compiler
  for part in network process_group transformer; do
    "${CXX:-g++}" "${flags[@]}" "$@" -c "$source/trainer/network/$part.cpp" -o "$objects/$part.o" &
    compilers+=($!)
  done
  for compiler in "${compilers[@]}"; do wait "$compiler" || failed=1; done
  return $failed
}
compile "${with_nccl[@]}" || { [ ${#with_nccl[@]} -gt 0 ] && echo "build_network: without NCCL" >&2 && compile; }
"${CXX:-g++}" -shared "$objects"/*.o "${links[@]}" -o "$folder/libwarpwright-network.so"
