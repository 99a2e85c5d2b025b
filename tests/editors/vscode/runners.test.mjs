// Adding a runner on another machine, here a TLS service on this one: what is wrong is said before
// it is kept, the token stays out of settings, and kernels are then measured there.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before } from 'node:test';
import { saxpy } from './lib/files.mjs';
import { Workbench, programs, steps, until } from './lib/workbench.mjs';

const token = '0123456789abcdef-of-this-test';
let bench;
let service;
let folder;
let port;
const step = steps(() => bench);

before(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'warpwright-tls-'));
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-keyout', `${folder}/runner.key`,
    '-out', `${folder}/runner.pem`, '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'], { stdio: 'pipe' });
  fs.writeFileSync(`${folder}/token`, `${token}\n`, { mode: 0o600 });
  service = spawn(path.join(programs, 'warpwright-runner'), ['serve', '--listen', 'tls://127.0.0.1:0', '--cert', `${folder}/runner.pem`, '--key', `${folder}/runner.key`, '--token-file', `${folder}/token`]);
  let said = '';
  for (const stream of [service.stdout, service.stderr])
    stream.on('data', (data) => { said += data; });
  port = await until('the service names its port', () => said.match(/127\.0\.0\.1:(\d+)/)?.[1]);
  bench = await Workbench.open({ name: 'runners', files: { 'saxpy.cu': saxpy() }, open: 'saxpy.cu', machine: { 'warpwright.device': 'cpu', 'warpwright.maxVariants': 2 } });
  fs.copyFileSync(`${folder}/runner.pem`, path.join(bench.folder, 'home/runner.pem'));
});
after(async () => {
  await bench?.close();
  service?.kill();
  fs.rmSync(folder, { recursive: true, force: true });
});

const input = () => bench.page.locator('.quick-input-widget input').first();

async function answer(title, text) {
  await bench.page.locator('.quick-input-widget .quick-input-title').filter({ hasText: title }).waitFor();
  await input().fill(text);
  await bench.page.keyboard.press('Enter');
}

async function pick(text) {
  const row = bench.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: text }).first();
  await row.waitFor();
  await row.click();
}

const dialog = () => bench.page.locator('.monaco-dialog-box');

step('a wrong token is said, with what to do, and nothing is kept', async () => {
  await bench.status('Warpwright');
  await bench.command('Warpwright: Choose Runner');
  await bench.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: 'Add a runner' }).waitFor();
  await bench.shot('1-choose');
  await pick('Add a runner');
  await answer('1 of 3', `localhost:${port}`);
  await answer('2 of 3', 'not-the-token-of-it');
  await pick('A certificate file');
  await bench.page.locator('.quick-input-widget .quick-input-title').filter({ hasText: 'Certificate' }).waitFor();
  await bench.page.locator('.quick-input-list .monaco-list-row[aria-label^="runner.pem"]').click();
  await dialog().waitFor();
  const text = await until('the reason', async () => { const found = await dialog().innerText(); return found.includes('token') && found; });
  assert.match(text, new RegExp(`localhost:${port} cannot be used`));
  await bench.shot('2-wrong-token');
});

step('with the right token the runner answers, is kept and used', async () => {
  await dialog().locator('.monaco-button').filter({ hasText: 'Edit' }).click();
  await answer('1 of 3', `localhost:${port}`);
  await answer('2 of 3', token);
  await pick('As before');
  await bench.notification(`the runner localhost:${port} answers`);
  await bench.shot('3-added');
  const settings = fs.readFileSync(path.join(bench.folder, 'user/Machine/settings.json'), 'utf8');
  assert.match(settings, new RegExp(`tls://localhost:${port}\\?ca=`));
  assert.ok(!settings.includes(token));
});

step('the status item names it, and kernels are verified there', async () => {
  await until('the status item names the runner', async () => (await bench.statusTooltip('CPU backend').catch(() => '')).includes(`localhost:${port}`));
  await bench.dismissNotifications();
  await bench.clickLens('optimize', bench.lens('variant checked', 120_000));
  assert.deepEqual(bench.processes(/warpwright-runner serve$/), [], 'no runner is started on this machine');
});

step('when it is gone the status item warns, and testing it says why', async () => {
  service.kill();
  await new Promise((resolve) => service.once('exit', resolve));
  await bench.command('Warpwright: Test Runner');
  await bench.notification('cannot be used');
  await bench.status('Warpwright runner');
  await bench.shot('4-gone');
  for (const file of fs.readdirSync(path.join(bench.folder, 'user/logs'), { recursive: true }))
    if (file.endsWith('.log'))
      assert.ok(!fs.readFileSync(path.join(bench.folder, 'user/logs', file), 'utf8').includes(token), `${file} holds the token`);
});
