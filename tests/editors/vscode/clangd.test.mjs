// Beside clangd on one file: both attach, hovers stack, diagnostics and actions come once each, no command is registered twice.
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { clangdClient } from './lib/clangd.mjs';
import { Workbench, steps, until } from './lib/workbench.mjs';

// clangd needs no toolkit with this; Warpwright brings declarations of its own.
const header = `#define __global__ __attribute__((global))
typedef unsigned long size_t;
struct index { unsigned x, y, z; };
extern const index threadIdx, blockIdx, blockDim;
extern "C" int __cudaPushCallConfiguration(int, int, size_t = 0, void * = nullptr);
`;
const saxpy = `__global__ void saxpy(int n, float a, float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + 2.0 * missing;
}
`;

let bench;
const step = steps(() => bench);
before(async () => {
  bench = await Workbench.open({ name: 'clangd', files: { 'saxpy.cu': saxpy, 'cuda.h': header, 'compile_flags.txt': '-xcuda\n-nocudainc\n-nocudalib\n--cuda-host-only\n-include\ncuda.h\n' }, open: 'saxpy.cu', extensions: [clangdClient()], machine: { 'warpwright.device': 'cpu' } });
});
after(() => bench.close());

step('lens of Warpwright, hover of both, one diagnostic each', async () => {
  await bench.lens('Warpwright:');
  const text = await until('a hover of both', async () => {
    const found = await bench.hover('saxpy', '__global__ void');
    return found.includes('Warpwright') && /function saxpy/.test(found) && found;
  });
  assert.equal(text.split('Warpwright').length, 2, text);
  await bench.shot('1-hover-of-both');
});

step('problems of both, none twice', async () => {
  await bench.page.keyboard.press('Escape');
  await bench.page.keyboard.press('Control+Shift+M');
  const problems = await until('problems of both', async () => {
    const rows = (await bench.page.locator('.markers-panel .monaco-list-row').allInnerTexts()).map((row) => row.replace(/[\u00a0\n]+/g, ' '));
    return rows.some((row) => row.includes('clang')) && rows.some((row) => row.includes('warpwright')) && rows;
  });
  await bench.shot('2-problems');
  console.log(problems);
});
