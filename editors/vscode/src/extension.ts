// The VS Code client of `warpwright lsp`. It starts the server, hands it the settings, and decides nothing:
// lenses, hovers, diagnostics, actions, progress and edits are the server's, shown by vscode-languageclient.
import * as vscode from 'vscode';
import { LanguageClient, LanguageClientOptions, ServerOptions } from 'vscode-languageclient/node';

let client: LanguageClient | undefined;

function createClient(): LanguageClient {
  const settings = vscode.workspace.getConfiguration('warpwright');
  const server: ServerOptions = { command: settings.get('path', 'warpwright'), args: ['lsp'] };
  const options: LanguageClientOptions = {
    documentSelector: ['cuda-cpp', 'cuda', 'python', 'cpp'].flatMap((language) => [
      { scheme: 'file', language },
      { scheme: 'untitled', language },
    ]),
    initializationOptions: { ...settings },
    synchronize: { configurationSection: 'warpwright' },
    outputChannelName: 'Warpwright',
  };
  return new LanguageClient('warpwright', 'Warpwright', server, options);
}

async function start(): Promise<void> {
  client = createClient();
  try {
    await client.start();
  } catch (error) {
    const open = 'Open Settings';
    const path = vscode.workspace.getConfiguration('warpwright').get('path');
    const answer = await vscode.window.showErrorMessage(
      `Warpwright could not start "${path}": ${error}. Set warpwright.path to the executable that \`make demo\` built.`, open);
    if (answer === open)
      await vscode.commands.executeCommand('workbench.action.openSettings', 'warpwright.path');
  }
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand('warpwright.client.restart', async () => {
      await client?.dispose();
      await start();
    }),
    vscode.commands.registerCommand('warpwright.client.showLog', () => client?.outputChannel.show()),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.dispose();
}
