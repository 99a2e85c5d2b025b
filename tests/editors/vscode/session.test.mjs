// A whole session with a CUDA file on the CPU backend: what is seen on opening, optimize with
// progress, diff, apply, hover again.
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { saxpy } from './lib/files.mjs';
import { Workbench, steps, until } from './lib/workbench.mjs';

let bench;
const step = steps(() => bench);
before(async () => {
  bench = await Workbench.open({
    name: 'session', files: { 'saxpy.cu': saxpy() }, open: 'saxpy.cu', machine: { 'warpwright.device': 'cpu', 'warpwright.maxVariants': 3 },
  });
});
after(() => bench.close());

step('a CUDA file opens with its lens and its diagnostics, and no runner', async () => {
  await bench.lens('Warpwright: not measured · optimize');
  await bench.status('Warpwright');
  assert.deepEqual(bench.processes(/warpwright-runner|warpwright-worker/), [], 'nothing is started before it is asked for');
  await until('a squiggle', async () => (await bench.squiggles('info')) + (await bench.squiggles()) + (await bench.squiggles('hint')) > 0);
  await bench.shot('1-opened');
});

step('the hover tells that nothing was measured, and how memory is accessed', async () => {
  const text = await bench.hover('saxpy', '__global__', 'Not measured');
  assert.match(text, /coalesced/);
  await bench.shot('2-hover');
});

step('optimizing shows progress and ends with checked variants', async () => {
  await bench.clickLens('optimize', bench.notification('optimizing saxpy'));
  await bench.shot('3-progress');
  await bench.lens('variant checked (correct on the CPU backend, speed not measured)', 120_000);
  await bench.notification('verified, none measured as faster');
  await bench.status('CPU backend');
  await bench.shot('4-optimized');
});

step('the lightbulb offers the variant, to apply or to review', async () => {
  await bench.dismissNotifications();
  const titles = await bench.actions('saxpy', '__global__');
  assert.ok(titles.some((title) => title.startsWith('Apply checked variant (correct on the CPU backend, speed not measured)')), titles.join('; '));
  assert.ok(titles.includes('Review the changes to saxpy'), titles.join('; '));
  await bench.shot('5-lightbulb');
  await bench.page.keyboard.press('Escape');
});

step('the page of the kernel has all that was tried', async () => {
  const page = 'saxpy: Measurements and Machine Code';
  await bench.clickLens('variant checked', bench.page.locator('.tab.active').filter({ hasText: page }).waitFor());
  await until('the page', async () => {
    for (const frame of bench.page.frames())
      if (/Tried/.test(await frame.locator('body').innerText().catch(() => '')))
        return true;
    return false;
  });
  await bench.shot('6-details');
  const tab = bench.page.locator('.tab').filter({ hasText: page }); // the keyboard's focus is still in the code
  await tab.hover();
  await tab.locator('.codicon-close').click();
  await tab.waitFor({ state: 'detached' });
});

step('Review shows the variant beside the code, and applying it there changes the file', async () => {
  const before = bench.read('saxpy.cu');
  assert.match(await bench.clickLens('Review', bench.diff()), /^saxpy.cu ↔ checked: /);
  await bench.shot('6-diff');
  assert.equal(bench.read('saxpy.cu'), before);
  await bench.applyDiff();
  await bench.lens('applied variant, checked on the CPU backend');
  assert.notEqual(await bench.save('saxpy.cu'), before);
  await bench.shot('7-applied');
});

step('the hover then tells that the code is a verified variant', async () => {
  const text = await bench.hover('saxpy', '__global__', 'The code is a verified variant');
  assert.match(text, /No GPU measured these/);
  await bench.shot('8-hover');
});
