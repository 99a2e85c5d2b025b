// The command that starts the server: `warpwright` from the setting, from the extension, or from the
// PATH, in this order.
import * as fs from 'fs';
import * as os from 'os';
import * as path from 'path';
import * as vscode from 'vscode';

export type ServerPath = { path: string } | { problem: string };

function isExecutable(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

function onPath(name: string): string | undefined {
  return (process.env.PATH ?? '').split(path.delimiter).filter(Boolean)
    .map((folder) => path.join(folder, name)).find(isExecutable);
}

export function findServer(context: vscode.ExtensionContext): ServerPath {
  const settings = vscode.workspace.getConfiguration('warpwright');
  const name = settings.get('server.path', '').trim() ? 'server.path' : 'path';
  const wanted = settings.get(name, '').trim().replace(/^~(?=\/)/, os.homedir());
  if (wanted.includes('/'))
    return isExecutable(wanted) ? { path: wanted } : { problem: `The setting warpwright.${name} names '${wanted}', which is not an executable file.` };
  if (wanted) {
    const found = onPath(wanted);
    return found ? { path: found } : { problem: `The setting warpwright.${name} names '${wanted}', which is not on the PATH.` };
  }
  const bundled = context.asAbsolutePath('server/bin/warpwright');
  const found = isExecutable(bundled) ? bundled : onPath('warpwright');
  return found ? { path: found } : {
    problem: 'There is no warpwright on the PATH, and this extension came without one. ' +
      'Install it, or set warpwright.server.path to the executable that `make demo` built (build/release/bin/warpwright).',
  };
}

/** Arguments and environment of the server. */
export function serverOptions(): { args: string[]; env: NodeJS.ProcessEnv } {
  const settings = vscode.workspace.getConfiguration('warpwright');
  return { args: ['lsp', ...settings.get<string[]>('server.args', [])], env: { ...process.env, ...settings.get<Record<string, string>>('server.env', {}) } };
}
