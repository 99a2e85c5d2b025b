#!/usr/bin/env bash
# `warpwright check` with the GPU of this machine: a slower, a faster, a wrong and an unchanged commit, with the exit codes that
# docs/use/check.md promises; and a runner behind a shell link (docker:// by a program of that name that runs the command here), which
# must find the same GPU.
# usage: scripts/gpu/check.sh BIN_DIR
set -euo pipefail
bin=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_STATE_HOME=$work/state
cd "$work"

write() { # write READS FACTOR: a kernel with so many reads that do not change the result
  cat >scale.cu <<CUDA
__global__ void scale(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float nothing = 0;
  for (int k = 0; k < $1; ++k)
    nothing += x[(i + k * 977) % n] * 0.0f;
  y[i] = x[i] * $2 + nothing;
}

int main() {
  const int n = 1 << 24;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  scale<<<(n + 255) / 256, 256>>>(x, y, n);
  return cudaDeviceSynchronize();
}
CUDA
}
git() { command git -c user.name=Test -c user.email=test@example.org -c commit.gpgsign=false "$@"; }
failures=0
expect() { # expect CODE TEXT WHAT
  local code=0
  "$bin/warpwright" check --base main --markdown out.md >out.txt 2>&1 || code=$?
  cat out.txt
  if [ "$code" -ne "$1" ] || ! grep -q "$2" out.txt; then
    echo "FAILED: $3: exit code $code instead of $1, or no '$2'"
    failures=$((failures + 1))
  fi
}

git init -q -b main
write 32 2.0f
git add -A && git commit -q -m 'Slow'
git checkout -q -b work
expect 0 'No kernel or module changed' 'an unchanged commit'
write 1 2.0f
expect 0 'FASTER' 'a faster commit'
write 1 3.0f
expect 1 'WRONG RESULT' 'a wrong commit'
write 1 2.0f
git add -A && git commit -q -m 'Fast'
git branch -q -f main
write 32 2.0f
expect 1 'SLOWER' 'a slower commit'

mkdir programs
printf '#!/bin/sh\nwhile [ "$1" != img ]; do shift; done; shift\nexec env XDG_CACHE_HOME=%s TMPDIR=%s sh "$@"\n' "$work/cache" "$work" >programs/docker
chmod +x programs/docker
PATH=$work/programs:$PATH "$bin/warpwright" doctor --runner docker://img | tee out.txt
grep -q '^  docker://img *ready ' out.txt || { echo "FAILED: the runner behind the shell link"; failures=$((failures + 1)); }
PATH=$work/programs:$PATH "$bin/warpwright" optimize scale.cu --runner docker://img --budget 20s | tee out.txt
grep -q 'verified.*[0-9]x \[' out.txt || { echo "FAILED: no speedup through the shell link"; failures=$((failures + 1)); }
echo "check.sh: $failures failures"
exit $((failures > 0))
