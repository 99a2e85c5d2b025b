// One VS Code for one scenario: code-server with a user folder, extensions and a workspace of its
// own, and a page of headless Chromium that is driven as a user would: by what is seen, with mouse
// and keys.
//
// What the test waits for it polls; `kPatience` stands for "never". Screenshots and the logs go to
// build/editors/artefacts/NAME, which is emptied first.
import { spawn, execFileSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { chromium } from 'playwright-core';

export const root = path.resolve(import.meta.dirname, '../../../..');
export const programs = process.env.WARPWRIGHT_BIN ?? path.join(root, 'build/release/bin');
const installed = path.join(root, 'build/editors');
const codeServer = path.join(installed, 'code-server/node_modules/code-server/out/node/entry.js');
const kPatience = 120_000;

const userSettings = {
  'workbench.startupEditor': 'none', 'telemetry.telemetryLevel': 'off', 'extensions.autoCheckUpdates': false, 'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true, 'workbench.tips.enabled': false, 'git.enabled': false, 'chat.commandCenter.enabled': false,
  'chat.disableAIFeatures': true, 'workbench.enableExperiments': false, 'workbench.colorTheme': 'Default Light Modern',
  'window.restoreWindows': 'none', 'files.simpleDialog.enable': true, 'editor.accessibilitySupport': 'off', 'editor.minimap.enabled': false,
  'window.commandCenter': false, 'workbench.layoutControl.enabled': false, 'editor.hover.delay': 100, 'security.workspace.trust.enabled': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden', 'files.autoSave': 'off', 'workbench.reduceMotion': 'on',
};

export async function until(what, condition, patience = kPatience) {
  const end = Date.now() + patience;
  for (;;) {
    const value = await condition();
    if (value)
      return value;
    if (Date.now() > end)
      throw new Error(`waited ${patience / 1000} s in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The steps of one scenario: each goes on where the one before ended, so what follows a failure is not run. */
export function steps(bench) {
  let failed = '';
  return (name, run, options = {}) => test(name, options, async (context) => {
    if (failed)
      return context.skip(`"${failed}" failed`);
    try {
      await run(context);
    } catch (error) {
      failed = name;
      await bench()?.shot('failed').catch(() => undefined);
      throw error;
    }
  });
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Words of the page have no-break spaces where the editor drew spaces. */
const plain = (text) => text.replace(/\u00a0/g, ' ');

export class Workbench {
  /**
   * @param options name; files {name: text}; settings, machine (settings); extensions (VSIX paths besides ours); vsix (ours; null: none);
   *   trust: true to have workspace trust asked
   */
  static async open(options) {
    const bench = new Workbench();
    await bench.#start(options);
    return bench;
  }

  async #start({ name, files, settings = {}, machine = {}, extensions = [], vsix, trust = false, open, env = {} }) {
    this.name = name;
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), `warpwright-${name}-`));
    this.workspace = path.join(this.folder, 'workspace');
    this.artefacts = path.join(installed, 'artefacts', name);
    fs.rmSync(this.artefacts, { recursive: true, force: true });
    fs.mkdirSync(this.artefacts, { recursive: true });
    for (const [file, text] of Object.entries(files))
      this.write(file, text);
    const user = path.join(this.folder, 'user');
    const place = (file, content) => {
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, JSON.stringify(content));
    };
    place(path.join(user, 'User/settings.json'), { ...userSettings, 'security.workspace.trust.enabled': trust, ...settings });
    place(path.join(user, 'Machine/settings.json'), { 'warpwright.server.path': path.join(programs, 'warpwright'), ...machine });
    const environment = {
      ...process.env, HOME: path.join(this.folder, 'home'), XDG_CONFIG_HOME: path.join(this.folder, 'config'),
      XDG_DATA_HOME: path.join(this.folder, 'data'), XDG_STATE_HOME: path.join(this.folder, 'state'), XDG_CACHE_HOME: path.join(this.folder, 'cache'), ...env,
    };
    fs.mkdirSync(environment.HOME, { recursive: true });
    const common = [codeServer, '--user-data-dir', user, '--extensions-dir', path.join(this.folder, 'extensions')];
    for (const extension of [vsix === undefined ? path.join(root, 'build/packages/warpwright.vsix') : vsix, ...extensions].filter(Boolean))
      execFileSync(process.execPath, [...common, '--install-extension', extension], { env: environment, stdio: 'pipe' });
    const port = await freePort();
    this.log = fs.openSync(path.join(this.artefacts, 'code-server.log'), 'w');
    this.server = spawn(process.execPath, [...common, '--auth', 'none', '--bind-addr', `127.0.0.1:${port}`, '--disable-telemetry',
      '--disable-update-check', ...(trust ? [] : ['--disable-workspace-trust'])], { env: environment, stdio: ['ignore', this.log, this.log], detached: true });
    const address = `http://127.0.0.1:${port}`;
    await until('code-server answers', () => fetch(`${address}/healthz`).then((answer) => answer.ok, () => false));
    this.browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' });
    this.page = await context.newPage();
    this.page.setDefaultTimeout(kPatience);
    const payload = open ? `&payload=${encodeURIComponent(JSON.stringify([['openFile', `vscode-remote://127.0.0.1:${port}${path.join(this.workspace, open)}`]]))}` : '';
    await this.page.goto(`${address}/?folder=${this.workspace}${payload}`);
    await this.page.waitForSelector('.monaco-workbench');
    await this.page.addStyleTag({ content: '* { animation: none !important; transition: none !important }' }); // for screenshots
    if (open)
      await this.page.waitForSelector('.editor-instance .view-lines');
  }

  async close() {
    const logs = path.join(this.folder, 'user/logs');
    for (const file of fs.existsSync(logs) ? fs.readdirSync(logs, { recursive: true }) : [])
      if (/Warpwright.*\.log$/.test(file))
        fs.copyFileSync(path.join(logs, file), path.join(this.artefacts, 'warpwright.log'));
    await this.browser?.close();
    if (this.server?.pid) {
      const ended = new Promise((resolve) => this.server.once('exit', resolve));
      try {
        process.kill(-this.server.pid);
      } catch {
        // it has ended
      }
      await ended;
    }
    fs.closeSync(this.log);
    fs.rmSync(this.folder, { recursive: true, force: true });
  }

  write(file, text) {
    const target = path.join(this.workspace, file);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.writeFileSync(target, text);
  }

  read(file) {
    return fs.readFileSync(path.join(this.workspace, file), 'utf8');
  }

  async shot(name) {
    await this.page.screenshot({ path: path.join(this.artefacts, `${name}.png`) });
  }

  // What is seen

  async lenses() {
    return (await this.page.locator('.codelens-decoration').allInnerTexts()).map(plain);
  }
  async lens(text, patience) {
    return until(`a lens with "${text}"`, async () => (await this.lenses()).find((lens) => lens.includes(text)), patience);
  }
  async noLens(text) {
    return until(`no lens with "${text}"`, async () => !(await this.lenses()).some((lens) => lens.includes(text)));
  }
  async squiggles(severity = 'warning') {
    return this.page.locator(`.squiggly-${severity}`).count();
  }
  /** Errors of all files, in view or not, as the status bar counts them. */
  async errors() {
    return Number(plain(await this.page.locator('[id="status.problems"]').innerText()).match(/\d+/)[0]);
  }
  async notifications() {
    return (await this.page.locator('.notification-toast').allInnerTexts()).map(plain);
  }
  async notification(text, patience) {
    return until(`a notification with "${text}"`, async () => (await this.notifications()).find((toast) => toast.includes(text)), patience);
  }
  async status(text) {
    return until(`a status item with "${text}"`, async () =>
      (await this.page.locator('.statusbar-item').allInnerTexts()).map(plain).find((item) => item.includes(text)));
  }
  async statusTooltip(text) {
    return plain(await this.page.locator('.statusbar-item').filter({ hasText: text }).locator('[aria-label]').first().getAttribute('aria-label') ?? '');
  }
  /** Text of the editor in front, as drawn. */
  async text() {
    return plain(await this.page.locator('.editor-instance .view-lines').last().innerText());
  }

  // What is done

  /**
   * Clicks a lens, again until `effect`: a click is lost where the editor draws its lenses anew, and impossible where a tooltip lies over it.
   * @param effect a promise of what the click does
   * @return the effect's value
   */
  async clickLens(text, effect) {
    let happened = false, missed = '';
    const waiting = Promise.resolve(effect).catch((error) => {
      throw new Error(`a click on "${text}" had no effect${missed && `; the last one failed: ${missed}`}`, { cause: error });
    }).finally(() => { happened = true; });
    waiting.catch(() => undefined); // thrown by the last line
    await this.lens(text);
    const lens = this.page.locator('.codelens-decoration a').filter({ hasText: text }).first();
    while (!happened) {
      await until('a lens that stays', async () => {
        const drawn = await lens.elementHandle({ timeout: 1000 });
        await new Promise((resolve) => setTimeout(resolve, 300));
        return drawn.evaluate((element) => element.isConnected);
      }, 2000).catch(() => undefined); // one that tells progress never does
      if (!happened) {
        await this.page.mouse.move(5, 400); // its tooltip closes
        missed = await lens.click({ timeout: 3000 }).then(() => '', (error) => error.message);
      }
      await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 3000))]);
    }
    return waiting;
  }
  /** The word as drawn in a line of the editor that holds `line`. */
  word(word, line = word) {
    return this.page.locator('.editor-instance .view-line').filter({ hasText: line }).first()
      .locator('span > span').filter({ hasText: new RegExp(`^\\s*${word}\\s*$`) }).first();
  }
  /** Hovers a word, again when what comes is not yet what is wanted: a hover is not drawn anew when a server has more to say. */
  async hover(word, line, wanted = '') {
    let next = 0;
    return until(`a hover with "${wanted}"`, async () => {
      if (Date.now() > next) {
        await this.page.mouse.move(5, 400);
        await this.word(word, line).hover();
        next = Date.now() + 2000;
      }
      const found = (await this.page.locator('.monaco-hover:not(.hidden)').allInnerTexts()).map(plain).join('\n');
      return found.includes(wanted) && found ? found : undefined;
    });
  }
  /** Opens the menu of code actions at a word. @return their titles */
  async actions(word, line) {
    await this.page.keyboard.press('Escape');
    await this.word(word, line).click();
    await this.page.keyboard.press('Control+.');
    await this.page.waitForSelector('.action-widget');
    return this.page.locator('.action-widget .monaco-list-row .title').allInnerTexts().then((titles) => titles.map(plain));
  }
  async chooseAction(title) {
    await this.page.locator('.action-widget .monaco-list-row').filter({ hasText: title }).first().click();
  }
  /** Presses a key that opens the quick input; again where the focus was somewhere that swallowed it. */
  async quick(key) {
    const input = this.page.locator('.quick-input-widget:not([style*="display: none"]) input').first();
    await until(`${key} opens the quick input`, async () => {
      await this.page.keyboard.press(key);
      return input.waitFor({ timeout: 2000 }).then(() => true, () => false);
    });
  }
  async command(title) {
    await this.quick('F1');
    await this.page.keyboard.insertText(title);
    const row = this.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: title }).first();
    await row.waitFor();
    await row.click();
  }
  async clickNotification(text, button) {
    await this.notification(text);
    const toast = this.page.locator('.notification-toast').filter({ hasText: text }).first();
    await toast.hover();
    await toast.locator('.monaco-button, .action-label').filter({ hasText: button }).first().click();
  }
  async dismissNotifications() {
    await this.command('Notifications: Clear All Notifications');
    await until('no notification', async () => (await this.notifications()).length === 0);
  }
  async openFile(file) {
    await this.quick('Control+P');
    await this.page.keyboard.insertText(file);
    const row = this.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: file }).first();
    await row.waitFor();
    await row.click();
    await this.page.locator('.tab.active').filter({ hasText: path.basename(file) }).waitFor();
  }
  async goToLine(line) {
    await this.quick('Control+G');
    await this.page.keyboard.insertText(String(line));
    await this.page.keyboard.press('Enter');
    await this.status(`Ln ${line},`);
  }
  async save(file) {
    const before = fs.statSync(path.join(this.workspace, file)).mtimeMs;
    await this.page.keyboard.press('Control+S');
    await until(`${file} is saved`, () => fs.statSync(path.join(this.workspace, file)).mtimeMs !== before);
    return this.read(file);
  }
  /** Waits for the diff of a variant. @return the title of its tab */
  async diff() {
    const tab = this.page.locator('.tab.active').filter({ hasText: '↔' });
    await tab.waitFor();
    await until('a difference is drawn', () => this.page.locator('.line-insert, .char-insert, .line-delete').count());
    return plain(await tab.innerText());
  }
  async applyDiff() {
    await this.page.locator('.editor-actions [aria-label^="Apply This Variant"]').first().click();
    await this.page.locator('.tab').filter({ hasText: '↔' }).waitFor({ state: 'detached' });
  }
  /** Processes of this scenario's server, by their command line. */
  processes(pattern) {
    return fs.readdirSync('/proc').filter((entry) => /^\d+$/.test(entry)).map(Number).filter((pid) => {
      try {
        const command = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replace(/\0/g, ' ');
        const environment = fs.readFileSync(`/proc/${pid}/environ`, 'utf8');
        return pattern.test(command) && environment.includes(this.folder);
      } catch {
        return false;
      }
    });
  }
}
