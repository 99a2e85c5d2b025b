// Packs plain clients of other language servers, to stand next to ours as those of the marketplace
// would, which no package registry in reach has; with the tools of editors/vscode.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { root } from './workbench.mjs';

/** With the languages of clangd's own extension. @return the path of a VSIX */
export function clangdClient() {
  return plainClient('clangd', {
    command: process.env.WARPWRIGHT_TEST_CLANGD || 'clangd-22', args: ['--log=error', '--background-index=false'], languages: ['c', 'cpp', 'cuda-cpp', 'objective-c', 'objective-cpp'],
  });
}

/** Pyright is what Microsoft's Pylance is built on. @return the path of a VSIX */
export function pyrightClient() {
  const server = path.join(root, 'tests/editors/vscode/node_modules/pyright/langserver.index.js');
  return plainClient('pyright', { command: process.execPath, args: [server, '--stdio'], languages: ['python'], sections: ['python', 'pyright'] });
}

function plainClient(name, server) {
  const modules = path.join(root, 'editors/vscode/node_modules');
  const folder = path.join(root, `build/editors/${name}-client`);
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify({
    name, displayName: `${name} for tests`, publisher: 'warpwright-tests', version: '0.0.1', private: true, license: 'UNLICENSED',
    description: `A plain client of ${name}, for tests of both on one file`, engines: { vscode: '^1.90.0' }, main: 'out/extension.js',
    activationEvents: server.languages.map((language) => `onLanguage:${language}`), server,
  }));
  execFileSync(path.join(modules, '.bin/esbuild'), [path.join(root, 'tests/editors/vscode/plain-client/extension.js'), '--bundle', '--platform=node',
    '--external:vscode', `--outfile=${folder}/out/extension.js`, '--log-level=warning'], { env: { ...process.env, NODE_PATH: modules } });
  const vsix = path.join(folder, `${name}-client.vsix`);
  execFileSync(path.join(modules, '.bin/vsce'), ['package', '--no-dependencies', '--allow-missing-repository', '--skip-license', '-o', vsix], { cwd: folder, stdio: 'pipe' });
  return vsix;
}
