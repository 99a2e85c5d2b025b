// The same session with a PyTorch module of a Python file, run by a Python with torch on the CPU
// backend.
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { canTryModules, model, python } from './lib/files.mjs';
import { Workbench, steps, until } from './lib/workbench.mjs';

const skip = canTryModules();
let bench;
const step = steps(() => bench);
before(async () => {
  if (!skip)
    bench = await Workbench.open({ name: 'python', files: { 'model.py': model }, open: 'model.py', machine: { 'warpwright.device': 'cpu', 'warpwright.maxVariants': 2, 'warpwright.python': python } });
});
after(() => bench?.close());

step('a module is optimized, compared and applied, and the lens and the hover follow', async () => {
  await bench.lens('not measured · optimize');
  await bench.hover('Model', 'class Model', 'Not measured');
  await bench.clickLens('optimize', bench.lens('Apply', 180_000));
  await bench.shot('1-optimized');
  const table = await bench.hover('Model', 'class Model', 'verified');
  assert.match(table, /float32\[24, 40\]/);
  await bench.shot('2-hover');
  const before = bench.read('model.py');
  await bench.clickLens('Review', bench.diff());
  await bench.shot('3-diff');
  await bench.applyDiff();
  await bench.lens('applied variant');
  const applied = await bench.save('model.py');
  assert.notEqual(applied, before);
  assert.match(applied, /class ModelNew/);
  await bench.shot('4-applied');
}, { skip });
