// In a workspace that is not trusted kernels are analyzed and nothing is run; trusting it is enough
// to go on.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before } from 'node:test';
import { saxpy } from './lib/files.mjs';
import { Workbench, steps, until } from './lib/workbench.mjs';

let bench;
const step = steps(() => bench);
before(async () => {
  bench = await Workbench.open({
    name: 'trust', files: { 'saxpy.cu': saxpy(), '.warpwright.toml': 'runner = "unix:/nowhere/of/the/project"\n' }, open: 'saxpy.cu', trust: true,
    settings: { 'security.workspace.trust.startupPrompt': 'never', 'security.workspace.trust.banner': 'never', 'security.workspace.trust.emptyWindow': false, 'security.workspace.trust.untrustedFiles': 'open' },
    machine: { 'warpwright.device': 'cpu' },
  });
});
after(() => bench.close());

step('analysis works, an optimization is refused with a way to trust, and no runner is started', async () => {
  await bench.lens('not measured · trust this workspace to optimize');
  assert.match(await bench.hover('saxpy', '__global__', 'Not measured'), /coalesced/);
  await bench.clickLens('trust this workspace', bench.notification('This workspace is not trusted'));
  await bench.shot('1-refused');
  assert.deepEqual(bench.processes(/warpwright-runner|warpwright-worker/), []);
});

step("once trusted, lenses offer to optimize, and the project's runner is asked about", async () => {
  await bench.clickNotification('This workspace is not trusted', 'Manage Workspace Trust');
  await bench.page.locator('.workspace-trust-editor .monaco-button').filter({ hasText: /^Trust$/ }).first().click();
  await bench.page.keyboard.press('Control+W');
  await bench.openFile('saxpy.cu');
  await bench.lens('· optimize');
  await bench.notification('Warpwright ignores this until you approve it');
  await bench.shot('2-trusted');
  assert.deepEqual(bench.processes(/warpwright-runner|warpwright-worker/), []);
});

step('approved, it is the runner that an optimization asks for', async () => {
  await bench.clickNotification('Warpwright ignores this until you approve it', 'Trust');
  const store = path.join(bench.folder, 'state/warpwright/approvals.json');
  await until('the approval', () => fs.existsSync(store) && fs.readFileSync(store, 'utf8').includes('.warpwright.toml'));
  await bench.clickLens('optimize', bench.notification('cannot reach a runner at /nowhere/of/the/project'));
  await bench.status('Warpwright runner');
  await until('the runner of the project is named', async () => (await bench.statusTooltip('Warpwright runner')).includes('/nowhere/of/the/project'));
  await bench.shot('3-approved');
});

step('a changed file is asked about again', async () => {
  await bench.dismissNotifications();
  bench.write('.warpwright.toml', 'runner = "unix:/another/of/the/project"\n');
  await bench.notification('unix:/another/of/the/project');
  await bench.shot('4-changed');
});
