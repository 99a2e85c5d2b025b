// The Kernels view over files that are not open: states, run, cancel, a file that changes outside,
// compare, apply, run all.
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { matmul, saxpy, slow } from './lib/files.mjs';
import { Workbench, steps, until } from './lib/workbench.mjs';

// Its size cannot be inferred.
const unknown = '__global__ void fill(float *x, int n) { if (threadIdx.x < n) x[threadIdx.x] = 1; }\n';

let bench;
const step = steps(() => bench);
before(async () => {
  bench = await Workbench.open({
    name: 'kernels', files: { 'saxpy.cu': saxpy(), 'slow.cu': slow, 'deep/matmul.cu': matmul(), 'host.cu': 'int main() { return 0; }\n', 'unknown.cu': unknown, 'build/copy.cu': saxpy() },
    settings: { 'files.exclude': { build: true } }, machine: { 'warpwright.device': 'cpu', 'warpwright.maxVariants': 2 },
  });
});
after(() => bench.close());

const rows = () => bench.page.locator('.pane-body .monaco-list-row').evaluateAll((rows) => rows.map((row) =>
  [...row.querySelectorAll('.label-name, .label-description')].map((part) => part.textContent.replace(/\u00a0/g, ' ')).join(' ')));
/** The row whose name is `name`. */
const row = (name) => bench.page.locator('.pane-body .monaco-list-row').filter({ has: bench.page.locator('.label-name').getByText(name, { exact: true }) }).first();
const seen = (text, patience) => until(`a row with "${text}"`, async () => (await rows()).find((line) => line.includes(text)), patience);

async function act(text, action) {
  await row(text).hover();
  await row(text).locator(`[aria-label^="${action}"]`).first().click();
}

step('the view lists the kernels of files that are not open, without those that are excluded', async () => {
  await bench.page.locator('.activitybar [aria-label^="Warpwright"]').first().click();
  await seen('saxpy not measured');
  const all = await rows();
  assert.ok(all.some((line) => line.startsWith('matmul')), all.join('; '));
  assert.ok(all.some((line) => /^fill missing facts/.test(line)), all.join('; '));
  assert.ok(!all.some((line) => line.includes('host.cu')), all.join('; '));
  assert.equal(all.filter((line) => line.includes('saxpy.cu')).length, 1, all.join('; '));
  assert.ok(all.includes('matmul.cu deep · 1 kernel'), all.join('; '));
  await bench.shot('1-listed');
});

step('a kernel is run from the view, cancelled there, and run to its end', async () => {
  await act('decay', 'Optimize Kernel');
  await seen('decay measuring 1 of 2 (verifying)'); // for long: a row that is drawn anew under the mouse swallows its click
  await bench.shot('2-running');
  await act('decay', 'Cancel Optimization');
  await seen('decay not measured');
  bench.write('slow.cu', 'int main() { return 0; }\n');
  await until('a kernel that was deleted is gone', async () => !(await rows()).some((line) => line.includes('decay')));
  await act('saxpy', 'Optimize Kernel');
  await seen('saxpy variant checked', 120_000);
  await bench.dismissNotifications();
  await row('saxpy').locator('.monaco-tl-twistie').click();
  await seen(') correct on the CPU backend'); // moves of a variant
  const order = (await rows()).filter((line) => /kernel$/.test(line));
  assert.deepEqual(order, ['matmul.cu deep · 1 kernel', 'saxpy.cu 1 kernel', 'unknown.cu 1 kernel'], 'running a kernel does not move it');
  await bench.shot('3-variants');
});

step('a variant is reviewed and applied from the view', async () => {
  const before = bench.read('saxpy.cu');
  await act('saxpy', 'Review Verified Variant');
  await bench.diff();
  await bench.applyDiff();
  await seen('saxpy applied variant');
  await bench.page.locator('.tab.active').filter({ hasText: 'saxpy.cu' }).waitFor();
  assert.notEqual(await bench.save('saxpy.cu'), before);
  await bench.shot('4-applied');
});

step('all kernels are optimized after one question, in one display of progress', async () => {
  await bench.command('Warpwright: Optimize All Kernels');
  await bench.page.locator('.monaco-dialog-box').filter({ hasText: 'Optimize 2 kernels?' }).locator('.monaco-button').filter({ hasText: 'Optimize' }).click();
  await bench.notification('kernel 1 of 2, matmul');
  await bench.shot('5-all');
  await bench.notification('of 2 kernels 0 have a faster verified variant', 180_000);
  await seen('matmul variant checked');
});
