// What a user of the settings meets: each is described, a wrong value is refused where it is typed,
// and one that comes by file is said and not used; a program that is not there, with a way to the
// setting.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before } from 'node:test';
import { saxpy } from './lib/files.mjs';
import { Workbench, steps, until } from './lib/workbench.mjs';

let bench;
const step = steps(() => bench);
before(async () => {
  bench = await Workbench.open({ name: 'settings', files: { 'saxpy.cu': saxpy(), 'host.cpp': 'int main() { return 0; }\n' }, open: 'host.cpp', machine: { 'warpwright.device': 'cpu' } });
});
after(() => bench?.close());

const item = (key) => bench.page.locator(`.settings-editor .setting-item-contents[data-key="warpwright.${key}"]`).first();

async function find(key) {
  const search = bench.page.locator('.settings-editor .settings-header .suggest-input-container');
  await search.click();
  await bench.page.keyboard.press('Control+A');
  await bench.page.keyboard.insertText(`warpwright.${key}`);
  await item(key).waitFor();
}

/** Types a value into a setting. @return what is said of it */
async function say(key, value) {
  await find(key);
  await item(key).locator('input').first().fill(value);
  const message = item(key).locator('.setting-item-validation-message');
  return until(`a message of ${key}`, async () => (await message.isVisible()) && message.innerText());
}

function change(values) {
  const file = path.join(bench.folder, 'user/Machine/settings.json');
  const settings = { ...JSON.parse(fs.readFileSync(file, 'utf8')), ...values };
  fs.writeFileSync(file, JSON.stringify(settings));
}

step('a file without a kernel starts no server, and its first kernel does', async () => {
  await bench.openFile('host.cpp');
  await new Promise((resolve) => setTimeout(resolve, 2000)); // long enough for the extension to have started one
  assert.deepEqual(bench.processes(/\/warpwright lsp/), []);
  await bench.openFile('saxpy.cu');
  await until('the server', () => bench.processes(/\/warpwright lsp/).length);
});

step('every setting is described', async () => {
  await bench.lens('Warpwright:');
  await bench.command('Preferences: Open Settings (UI)');
  await bench.page.locator('.settings-editor .settings-tabs-widget .action-label').filter({ hasText: 'Remote' }).click(); // where the server runs
  const { properties } = JSON.parse(fs.readFileSync(new URL('../../../editors/vscode/package.json', import.meta.url), 'utf8')).contributes.configuration;
  for (const [key, setting] of Object.entries(properties))
    assert.ok((setting.description ?? setting.markdownDescription ?? '').length > 20, key);
  await find('budget');
  assert.match(await item('budget').innerText(), /in seconds/);
});

step('a value that cannot be is refused where it is typed, with what can be', async () => {
  assert.match(await say('runner', 'gpu-box'), /tls:\/\/HOST:PORT/);
  await bench.shot('1-refused');
  assert.match(await say('device', 'gpu'), /cuda:0/);
  assert.match(await say('budget', '0'), /1/);
  await bench.page.keyboard.press('Control+W');
});

step('a wrong value in a file is named, and the one before is kept', async () => {
  change({ 'warpwright.budget': 'soon' });
  await bench.notification('budget');
  await bench.shot('2-named');
  await bench.openFile('saxpy.cu');
  await bench.lens('· optimize');
  change({ 'warpwright.budget': 20 });
  await bench.dismissNotifications();
});

step('a program that is not there is said with a way to its setting, and found again once that is right', async () => {
  const program = JSON.parse(fs.readFileSync(path.join(bench.folder, 'user/Machine/settings.json'), 'utf8'))['warpwright.server.path'];
  change({ 'warpwright.server.path': '/nowhere/warpwright' });
  await bench.notification('/nowhere/warpwright');
  await bench.shot('3-no-program');
  await bench.clickNotification('/nowhere/warpwright', 'Open Settings');
  await item('server.path').waitFor();
  change({ 'warpwright.server.path': program });
  await bench.openFile('saxpy.cu');
  await bench.lens('· optimize');
});
