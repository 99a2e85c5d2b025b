// Beside a Python language server on one file: both attach, hovers stack, each says its own, and a
// variant is applied under both.
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { pyrightClient } from './lib/plain_client.mjs';
import { canTryModules, model, python } from './lib/files.mjs';
import { Workbench, steps, until } from './lib/workbench.mjs';

const skip = canTryModules();
let bench;
const step = steps(() => bench);
before(async () => {
  if (!skip)
    bench = await Workbench.open({
      name: 'pyright', files: { 'model.py': model.replace('1.5', '1.5 + missing') }, open: 'model.py', extensions: [pyrightClient()],
      machine: { 'warpwright.device': 'cpu', 'warpwright.maxVariants': 2, 'warpwright.python': python },
    });
});
after(() => bench?.close());

step('lens of Warpwright, hover of both, problems of Pyright', async () => {
  await bench.lens('Warpwright:');
  await until('a hover of both', async () => {
    const found = await bench.hover('Model', 'class Model');
    return /Warpwright/.test(found) && /\(class\) (class )?Model/.test(found) && found.split('Warpwright').length === 2;
  });
  await bench.shot('1-hover-of-both');
  await until('an undefined name', async () => (await bench.errors()) === 1);
}, { skip });

step('repaired and optimized, the lens and the menu are those of Warpwright, once each', async () => {
  await bench.page.locator('.editor-instance .view-line').last().click();
  await bench.page.keyboard.press('Control+F');
  await bench.page.keyboard.insertText(' + missing');
  await bench.page.keyboard.press('Escape');
  await bench.page.keyboard.press('Delete');
  await until('no undefined name', async () => (await bench.squiggles('error')) === 0);
  await bench.save('model.py');
  await bench.clickLens('optimize', bench.lens('Apply', 180_000));
  await bench.dismissNotifications();
  const titles = await bench.actions('Model', 'class Model');
  assert.equal(titles.filter((title) => title.startsWith('Apply')).length, 2, titles.join('; ')); // a new class, or the forward
  await bench.shot('2-actions');
  await bench.page.keyboard.press('Escape');
}, { skip });

step('a variant is applied, and both servers read the result', async () => {
  await bench.clickLens('Review', bench.diff());
  await bench.applyDiff();
  await bench.lens('applied variant');
  assert.match(await bench.save('model.py'), /class ModelNew/);
  await until('a hover of both', async () => {
    const found = await bench.hover('Model', 'class Model');
    return /The code is a verified variant/.test(found) && /\(class\)/.test(found);
  });
  await until('Pyright finds no error in it', async () => (await bench.errors()) === 0);
  await bench.shot('3-applied');
}, { skip });
