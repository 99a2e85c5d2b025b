// The sources that scenarios open: the project's own examples, made small enough for the CPU
// backend.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { root } from './workbench.mjs';

/** examples/saxpy.cu with fewer elements: seconds on the CPU backend, not minutes. */
export function saxpy() {
  const text = fs.readFileSync(path.join(root, 'examples/saxpy.cu'), 'utf8');
  if (!text.includes('1 << 24'))
    throw new Error('examples/saxpy.cu has another size than this test knows');
  return text.replace('1 << 24', '1 << 14');
}

export const python = process.env.WARPWRIGHT_PYTHON || '/usr/bin/python3';

/** @return false, or why modules cannot be tried here */
export function canTryModules() {
  try {
    execFileSync(python, ['-c', 'import torch'], { stdio: 'ignore' });
    return false;
  } catch {
    return `${python} has no torch`;
  }
}

export const model = `import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x) + 1.5


def get_inputs():
    return [torch.randn(24, 40)]
`;

/** examples/matmul.cu as it stands. */
export function matmul() {
  return fs.readFileSync(path.join(root, 'examples/matmul.cu'), 'utf8');
}

/** A kernel whose first check keeps the CPU backend busy for half a minute at least: what is done meanwhile never comes too late. */
export const slow = `#include <cuda_runtime.h>

__global__ void decay(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float value = x[i];
    for (int step = 0; step < 1 << 20; ++step)
      value = value * 0.999f + 0.001f;
    x[i] = value;
  }
}

void run(float *x) {
  const int n = 1 << 16;
  decay<<<(n + 255) / 256, 256>>>(x, n);
}
`;
