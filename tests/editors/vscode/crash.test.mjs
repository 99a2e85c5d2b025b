// What a user sees when a process below the editor dies: the server is started again and reports
// this, an optimization that ran is over, and what was measured before is still there.
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { matmul, saxpy, slow } from './lib/files.mjs';
import { Workbench, steps, until } from './lib/workbench.mjs';

let bench;
const step = steps(() => bench);
before(async () => {
  bench = await Workbench.open({ name: 'crash', files: { 'saxpy.cu': saxpy(), 'slow.cu': slow, 'matmul.cu': matmul() }, open: 'saxpy.cu', machine: { 'warpwright.device': 'cpu', 'warpwright.maxVariants': 2 } });
});
after(() => bench.close());

const servers = () => bench.processes(/\/warpwright lsp/);

step('a server that is killed amid an optimization is started again, with a message', async () => {
  await bench.clickLens('optimize', bench.lens('Apply', 120_000));
  await bench.dismissNotifications();
  await bench.openFile('slow.cu');
  await bench.clickLens('optimize', bench.lens('· cancel'));
  const [before] = servers();
  process.kill(before, 'SIGKILL');
  await bench.notification("Warpwright's server ended unexpectedly and was started again");
  await bench.shot('1-restarted');
  await until('another server runs', () => servers().some((pid) => pid !== before));
  await bench.lens('not measured · optimize');
  await until('its progress is over', async () => !(await bench.notifications()).some((toast) => toast.includes('optimizing')), 20_000);
  assert.equal((await bench.notifications()).length, 1, 'one message, not one a request');
  await bench.openFile('saxpy.cu');
  await bench.lens('variant checked');
});

step('the runner that is killed amid an optimization is said once, and the next one works', async () => {
  await bench.dismissNotifications();
  await bench.openFile('slow.cu');
  await bench.clickLens('optimize', bench.lens('· cancel'));
  const runners = () => bench.processes(/warpwright-runner/);
  const [before] = await until('a runner', () => runners().length && runners());
  process.kill(before, 'SIGKILL');
  await bench.notification("Warpwright's runner was lost");
  await until('another runner', () => runners().some((pid) => pid !== before));
  await bench.shot('2-runner-killed');
  await bench.clickLens('(verifying) · cancel', bench.noLens('cancel'));
  assert.equal((await bench.notifications()).filter((toast) => toast.includes('was lost')).length, 1);
  await bench.openFile('matmul.cu');
  await bench.clickLens('· optimize', bench.lens('variant checked', 120_000));
  await bench.openFile('saxpy.cu');
  await bench.lens('variant checked');
});
