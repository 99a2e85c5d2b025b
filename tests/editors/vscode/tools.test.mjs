// Cancelling, links of rules, inlay hints, settings, doctor, report, restart and log, from the VSIX
// that brings the server along: with no setting of its place and nothing on the PATH.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before } from 'node:test';
import { saxpy, slow } from './lib/files.mjs';
import { Workbench, root, steps, until } from './lib/workbench.mjs';

const strided = `// Reads every second element, and in double.
__global__ void scale(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[2 * i] = 2.0 * x[2 * i];
}
`;

const bundled = path.join(root, 'build/packages/warpwright-linux-x64.vsix');
let bench;
const step = steps(() => bench);
before(async () => {
  bench = await Workbench.open({
    name: 'tools', vsix: fs.existsSync(bundled) ? bundled : undefined, files: { 'strided.cu': strided, 'saxpy.cu': saxpy(), 'slow.cu': slow }, open: 'strided.cu',
    machine: { 'warpwright.device': 'cpu', 'warpwright.maxVariants': 2, ...(fs.existsSync(bundled) ? { 'warpwright.server.path': '' } : {}) },
  });
});
after(() => bench?.close());

step('diagnostics link to the page of their rule, which opens rendered', async () => {
  await bench.lens('Warpwright:');
  await until('squiggles', async () => (await bench.squiggles()) > 0);
  await bench.hover('2.0', '2.0', 'double');
  await bench.shot('1-diagnostic');
  await bench.page.locator('.monaco-hover:not(.hidden) a').filter({ hasText: 'double-arithmetic' }).first().click();
  await bench.page.locator('.tab.active').filter({ hasText: 'Preview double-arithmetic.md' }).waitFor();
  const frame = await until('the page', async () => {
    for (const candidate of bench.page.frames())
      if (await candidate.locator('#double-arithmetic').count().catch(() => 0))
        return candidate;
    return undefined;
  });
  assert.ok(await frame.locator('#double-arithmetic').first().isVisible());
  await bench.shot('2-rule');
  await bench.page.keyboard.press('Control+W');
});

step('inlay hints tell access patterns, until the setting turns them off', async () => {
  await bench.openFile('strided.cu');
  const hints = () => bench.page.locator('.editor-instance .view-line').filter({ hasText: 'stride 2' }).count();
  await until('a hint', hints);
  await bench.shot('3-hints');
  const file = path.join(bench.folder, 'user/Machine/settings.json');
  fs.writeFileSync(file, JSON.stringify({ ...JSON.parse(fs.readFileSync(file, 'utf8')), 'warpwright.inlayHints': false }));
  await until('no hint', async () => (await hints()) === 0);
});

step("an optimization is cancelled in its progress, and from its lens", async () => {
  await bench.openFile('slow.cu');
  await bench.clickLens('· optimize', bench.lens('(verifying) · cancel')); // for long: what is drawn anew under the mouse swallows a click
  await bench.clickNotification('optimizing decay', 'Cancel');
  await bench.lens('· optimize');
  await until('the progress is gone', async () => !(await bench.notifications()).some((toast) => toast.includes('optimizing')));
  await bench.clickLens('· optimize', bench.lens('(verifying) · cancel'));
  await bench.clickLens('(verifying) · cancel', bench.lens('· optimize'));
  assert.deepEqual((await bench.notifications()).filter((toast) => /error|fail/i.test(toast)), []);
});

step('doctor tells what was found', async () => {
  await bench.command('Warpwright: Doctor');
  await bench.page.locator('.tab.active').filter({ hasText: 'Preview' }).waitFor();
  await until('the findings', async () => {
    for (const frame of bench.page.frames())
      if ((await frame.locator('body').innerText().catch(() => '')).includes('Ready to check variants on the CPU'))
        return true;
    return false;
  });
  await bench.shot('4-doctor');
  assert.deepEqual((await bench.notifications()).filter((toast) => toast.includes('decay')), [], 'nothing is told of what was cancelled');
  await bench.page.keyboard.press('Control+W');
});

step('a report of what was measured is exported', async () => {
  await bench.openFile('saxpy.cu');
  await bench.lens('· optimize');
  await bench.command('Warpwright: Optimize Kernel');
  await bench.lens('variant checked', 120_000);
  await bench.dismissNotifications();
  await bench.command('Warpwright: Export Report');
  // The dialog is shown before it has listed its folder, and only then writes the name that it proposes: over what was typed by then.
  const name = bench.page.locator('.quick-input-widget input').first();
  await until('the dialog proposes a name', async () => (await name.inputValue()) === path.join(bench.workspace, 'warpwright-report.html'));
  await name.fill(path.join(bench.workspace, 'report.html'));
  await bench.page.keyboard.press('Enter');
  await bench.notification(`wrote ${path.join(bench.workspace, 'report.html')}`);
  const report = bench.read('report.html');
  assert.match(report, /saxpy/);
  assert.match(report, /verified/);
  fs.copyFileSync(path.join(bench.workspace, 'report.html'), path.join(bench.artefacts, 'report.html'));
});

step('restart starts another server, and the log says which', async () => {
  await bench.dismissNotifications();
  const servers = () => bench.processes(/\/warpwright lsp/);
  const [before] = servers();
  await bench.command('Warpwright: Restart Language Server');
  await until('another one', () => { const now = servers(); return now.length === 1 && now[0] !== before; });
  await bench.lens('variant checked');
  await bench.command('Warpwright: Show Log');
  await until('the log', async () => (await bench.page.locator('.output-view-wrapper, .panel').allInnerTexts()).join().includes('Started'));
  await bench.shot('5-log');
  assert.doesNotMatch((await bench.page.locator('.output-view-wrapper, .panel').allInnerTexts()).join(), /Error/);
  assert.deepEqual(await bench.notifications(), []);
});
