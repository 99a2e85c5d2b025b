// Packs the plain clangd client of these tests, with the tools of editors/vscode.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { root } from './workbench.mjs';

export function clangdClient() {
  const modules = path.join(root, 'editors/vscode/node_modules');
  const folder = path.join(root, 'build/editors/clangd-client');
  const source = path.join(root, 'tests/editors/vscode/clangd-client');
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  fs.copyFileSync(path.join(source, 'package.json'), path.join(folder, 'package.json'));
  execFileSync(path.join(modules, '.bin/esbuild'), [path.join(source, 'extension.js'), '--bundle', '--platform=node', '--external:vscode',
    `--outfile=${folder}/out/extension.js`, '--log-level=warning'], { env: { ...process.env, NODE_PATH: modules } });
  const vsix = path.join(folder, 'clangd-client.vsix');
  execFileSync(path.join(modules, '.bin/vsce'), ['package', '--no-dependencies', '--allow-missing-repository', '--skip-license', '-o', vsix], { cwd: folder, stdio: 'pipe' });
  return vsix;
}
