// Beside clangd on one file: both attach, hovers stack, diagnostics and actions come once each, no command is registered twice.
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { clangdClient } from './lib/clangd.mjs';
import { Workbench, steps, until } from './lib/workbench.mjs';

const source = `__attribute__((device)) int unused_helper();
__attribute__((global)) void scale(int n, float *x) {
  int i = n;
  if (i < n)
    x[i] = 2.0 * x[i];
}
float wrong() { return missing_name; }
`;

let bench;
const step = steps(() => bench);
before(async () => {
  bench = await Workbench.open({ name: 'clangd', files: { 'scale.cpp': source.replace(/__attribute__\(\(\w+\)\) /g, ''), 'saxpy.cu': saxpy }, open: 'saxpy.cu', extensions: [clangdClient()], machine: { 'warpwright.device': 'cpu' } });
});
after(() => bench.close());

// Needs no toolkit: clangd is told to take the file as CUDA without its headers.
const saxpy = `#define __global__ __attribute__((global))
typedef unsigned long size_t;
struct index { unsigned x, y, z; };
extern const index threadIdx, blockIdx, blockDim;
__global__ void saxpy(int n, float a, float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + 2.0 * y[i];
}
`;

step('lens of Warpwright, hover of both, one diagnostic each', async () => {
  await bench.lens('Warpwright:');
  const text = await until('a hover of both', async () => {
    const found = await bench.hover('saxpy', '__global__ void');
    return found.includes('Warpwright') && /void saxpy\(/.test(found) && found;
  });
  assert.equal(text.split('Warpwright').length, 2, text);
  await bench.shot('1-hover-of-both');
});
