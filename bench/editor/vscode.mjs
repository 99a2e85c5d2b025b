// Times that a user waits for in a real VS Code (code-server under headless Chromium): Warpwright
// alone, clangd alone, and both on one file.
//
// usage: WARPWRIGHT_BIN=DIR node bench/editor/vscode.mjs [--rounds N] [--out ENTRIES.json]
//
// Timed inside the page, from the event of the key or the mouse to the frame in which the thing is
// there: a key that makes a name undeclared to its squiggle, the mouse over a kernel's name to the
// text of the hover, Ctrl+. to the menu of actions. VS Code's own delays are in it and the same for
// all (the hover's, `editor.hover.delay`, is set to 0). The three are open at once, each in a VS
// Code and a browser of its own, and take turns round by round, so what else the machine does meets
// all. Prints medians with quartiles and asserts nothing.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { clangdClient } from '../../tests/editors/vscode/lib/plain_client.mjs';
import { Workbench, programs, root, until } from '../../tests/editors/vscode/lib/workbench.mjs';

if (!process.env.WARPWRIGHT_BIN)
  throw new Error('say where the programs are: WARPWRIGHT_BIN, as bench/run_vscode does');
const argument = (name, otherwise) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : otherwise);
const rounds = Number(argument('--rounds', '20'));
const warmUp = 3;
const out = argument('--out', '');
const cuda = fs.realpathSync(process.env.CUDA_HOME ?? '/usr/local/cuda');

/** In the page: milliseconds from the next event of this type until the selector matches, with this text in it. */
function armed({ event, selector, text, gone }) {
  window.measured = new Promise((resolve) => {
    let start;
    document.addEventListener(event, () => { start ??= performance.now(); }, { capture: true, once: true });
    const there = () => [...document.querySelectorAll(selector)].some((element) => element.getClientRects().length && element.textContent.replace(/\u00a0/g, ' ').includes(text));
    const look = () => {
      if (start !== undefined && there() !== Boolean(gone))
        resolve(performance.now() - start);
      else
        requestAnimationFrame(look);
    };
    look();
  });
}

async function timed(page, what, act) {
  await page.evaluate(armed, { text: '', ...what });
  await act();
  return Promise.race([page.evaluate(() => window.measured), new Promise((_, reject) => { setTimeout(() => reject(new Error(`never: ${JSON.stringify(what)}`)), 30_000).unref(); })]);
}

/** One arrangement in a VS Code of its own, opened and warm. @return run(): one sample of each kind; close() */
async function arrangement(name, clangd) {
  const file = fs.readFileSync(path.join(root, 'bench/clangd/plain.cu'), 'utf8');
  const bench = await Workbench.open({
    name: `latency-${name}`, files: { 'plain.cu': file }, open: undefined, vsix: name === 'clangd' ? null : undefined, extensions: name === 'warpwright' ? [] : [clangd],
    settings: { 'editor.hover.delay': 0 }, machine: { 'warpwright.device': 'cpu' },
  });
  const { page } = bench;
  const line = file.split('\n').findIndex((text) => text.includes('x[i] *= factor;')) + 1;
  const wanted = name === 'clangd' ? 'function scale' : 'Warpwright';
  const squiggle = { event: 'keydown', selector: '.squiggly-error' };

  async function run() {
    const samples = {};
    await page.keyboard.press('Escape');
    await bench.goToLine(line);
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowLeft'); // before the semicolon
    samples.key_to_diagnostic = await timed(page, squiggle, () => page.keyboard.press('q'));
    await timed(page, { ...squiggle, gone: true }, () => page.keyboard.press('Backspace'));
    await page.mouse.move(640, 760);
    await until('no hover', async () => (await page.locator('.monaco-hover:not(.hidden) .hover-row').count()) === 0);
    samples.hover_to_text = await timed(page, { event: 'mousemove', selector: '.monaco-hover:not(.hidden)', text: wanted }, () => bench.word('scale', '__global__ void').hover());
    await page.mouse.move(640, 760);
    await page.keyboard.press('Escape');
    await bench.goToLine(line - 1); // on `<`, where clangd has an action too
    await page.keyboard.press('Home');
    for (let i = 0; i < 'if (i '.length; ++i)
      await page.keyboard.press('ArrowRight');
    samples.menu_of_actions = await timed(page, { event: 'keydown', selector: '.action-widget .monaco-list-row' }, () => page.keyboard.press('Control+.'));
    await page.keyboard.press('Escape');
    await page.locator('.action-widget .monaco-list-row').first().waitFor({ state: 'hidden' });
    return samples;
  }

  try {
    bench.write('compile_commands.json', JSON.stringify([{ directory: bench.workspace, file: path.join(bench.workspace, 'plain.cu'), arguments: [
      'clang++', '-x', 'cuda', `--cuda-path=${cuda}`, '-isystem', `${cuda}/include/cccl`, '--cuda-gpu-arch=sm_90', '-std=c++17', '-Wno-unknown-cuda-version', '-c', 'plain.cu'] }]));
    await bench.openFile('plain.cu');
    await bench.hover('scale', '__global__ void', wanted);
    if (name === 'both')
      await bench.hover('scale', '__global__ void', 'function scale');
    for (let round = 0; round < warmUp; ++round)
      await run();
  } catch (error) {
    await bench.shot('failed');
    await bench.close();
    throw error;
  }
  return { name, run, close: () => bench.close() };
}

function quantile(values, q) {
  const ordered = [...values].sort((a, b) => a - b);
  const place = q * (ordered.length - 1);
  const below = Math.floor(place);
  return ordered[below] + (ordered[Math.min(below + 1, ordered.length - 1)] - ordered[below]) * (place - below);
}

const clangd = clangdClient();
const found = {};
const open = [];
try {
  for (const name of ['warpwright', 'clangd', 'both'])
    open.push(await arrangement(name, clangd));
  for (let round = 0; round < rounds; ++round)
    for (let turn = 0; turn < open.length; ++turn) {
      const { name, run } = open[(round + turn) % open.length];
      for (const [what, value] of Object.entries(await run()))
        ((found[what] ??= {})[name] ??= []).push(value);
    }
} finally {
  for (const one of open)
    await one.close();
}

const commit = execFileSync('git', ['-C', root, 'rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
const entries = [];
console.log(`VS Code (code-server), plain.cu, ${programs}, median [quartiles] in ms`);
for (const [what, by] of Object.entries(found))
  for (const [name, values] of Object.entries(by)) {
    const [low, middle, high] = [0.25, 0.5, 0.75].map((q) => Math.round(quantile(values, q) * 10) / 10);
    console.log(`  ${what.padEnd(20)} ${name.padEnd(11)} ${middle} [${low}, ${high}]  of ${values.length}`);
    entries.push({ key: `vscode.${what}_ms${name === 'warpwright' ? '' : `.${name}`}`, value: middle, low, high, unit: 'ms, with quartiles', target: null,
      command: 'bench/run_vscode', gpu: null, commit, date: new Date().toISOString().replace(/\.\d+Z$/, 'Z') });
  }
if (out)
  fs.writeFileSync(out, JSON.stringify(entries, undefined, 1));
