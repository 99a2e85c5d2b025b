// Beside clangd on one file: both attach, hovers stack, diagnostics and actions come once each, no
// command is registered twice, and a variant is applied under both.
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { clangdClient } from './lib/plain_client.mjs';
import { Workbench, steps, until } from './lib/workbench.mjs';

// clangd needs no toolkit with this; Warpwright brings declarations of its own.
const header = `#define __global__ __attribute__((global))
typedef unsigned long size_t, uintptr_t;
struct float2 { float x, y; };
struct float4 { float x, y, z, w; };
struct index { unsigned x, y, z; };
extern const index threadIdx, blockIdx, blockDim;
extern "C" int __cudaPushCallConfiguration(int, int, size_t = 0, void * = nullptr);
`;
const saxpy = `__global__ void saxpy(int n, float a, float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + 2.0 * missing;
}

void run(float *x, float *y) {
  const int n = 1 << 14;
  saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, x, y);
}
`;

let bench;
const step = steps(() => bench);
before(async () => {
  bench = await Workbench.open({ name: 'clangd', files: { 'saxpy.cu': saxpy, 'cuda.h': header, 'compile_flags.txt': '-xcuda\n-nocudainc\n-nocudalib\n--cuda-host-only\n-include\ncuda.h\n' }, open: 'saxpy.cu', extensions: [clangdClient()], machine: { 'warpwright.device': 'cpu', 'warpwright.maxVariants': 2 } });
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

/** What the Problems panel lists. */
const problems = async () => (await bench.page.locator('.markers-panel .monaco-list-row').allInnerTexts()).map((row) => row.replace(/[\u00a0\n]+/g, ' '));

step('problems come from both, and the syntax error that clangd finds is listed once', async () => {
  await bench.page.keyboard.press('Escape');
  await bench.page.keyboard.press('Control+Shift+M');
  await until('clangd has found it', async () => (await problems()).some((row) => /identifier 'missing'.* clang/.test(row)));
  await until('it is listed once', async () => (await problems()).filter((row) => row.includes("identifier 'missing'")).length === 1);
  await bench.shot('2-problems');
  await bench.page.keyboard.press('Control+Shift+M');
});

step('repaired, the file has diagnostics of rules, and one action each', async () => {
  await bench.page.locator('.editor-instance .view-line').last().click();
  await bench.page.keyboard.press('Control+F');
  await bench.page.keyboard.insertText('missing');
  await bench.page.keyboard.press('Escape');
  await bench.page.keyboard.insertText('y[i]');
  await until('the double constant is found', async () => (await bench.squiggles()) > 0);
  const titles = await bench.actions('2.0', '2.0');
  assert.equal(titles.filter((title) => title === 'Make the literal float').length, 1, titles.join('; '));
  await bench.shot('3-actions');
});

step('a variant is optimized and applied, and both servers read the result', async () => {
  await bench.page.keyboard.press('Escape');
  await bench.clickLens('· optimize', bench.lens('Apply', 120_000));
  await bench.dismissNotifications();
  await bench.clickLens('Review', bench.diff());
  await bench.applyDiff();
  await bench.lens('applied variant');
  assert.notEqual(await bench.save('saxpy.cu'), saxpy.replace('missing', 'y[i]'));
  await until('a hover of both', async () => {
    const found = await bench.hover('saxpy', '__global__ void');
    return /The code is a verified variant/.test(found) && /function saxpy/.test(found);
  });
  await until('clangd finds no error in it', async () => (await bench.errors()) === 0);
  await bench.shot('4-applied');
});
