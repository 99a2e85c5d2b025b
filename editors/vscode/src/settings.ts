// Settings for the server: those of the user, the token of the chosen runner from the secret storage,
// and whether the workspace is trusted.
import * as vscode from 'vscode';

/** Settings that the server knows; the others are this client's own. */
const serverSettings = ['runner', 'python', 'device', 'budget', 'maxVariants', 'policy', 'learn', 'disabledRules', 'hover', 'inlayHints', 'codeLens', 'languages',
  'syntaxDiagnostics', 'standalone'];

export class Settings {
  /** The tokens that were handed out, to be kept out of logs. */
  private readonly tokens = new Set<string>();

  constructor(private readonly secrets: vscode.SecretStorage) {}

  get<T>(name: string, otherwise: T, scope?: vscode.Uri): T {
    return vscode.workspace.getConfiguration('warpwright', scope).get(name, otherwise);
  }

  set(name: string, value: unknown): Thenable<void> {
    return vscode.workspace.getConfiguration('warpwright').update(name, value, vscode.ConfigurationTarget.Global);
  }

  /** @param scope the document whose settings are wanted; absent: those of the window */
  async forServer(scope?: vscode.Uri): Promise<Record<string, unknown>> {
    const result: Record<string, unknown> = { trusted: vscode.workspace.isTrusted };
    for (const name of serverSettings)
      result[name] = this.get(name, undefined, scope);
    result.runner = await this.withToken(this.get('runner', ''));
    return result;
  }

  /** `tls://HOST...` with the token that is kept for it. */
  async withToken(url: string): Promise<string> {
    const token = await this.secrets.get(`token:${url}`);
    return token ? urlWithToken(url, this.remember(token)) : url;
  }

  async keepToken(url: string, token: string): Promise<void> {
    await (token ? this.secrets.store(`token:${url}`, this.remember(token)) : this.secrets.delete(`token:${url}`));
  }

  /** Text for a log, without any token. */
  redact(text: string): string {
    for (const token of this.tokens)
      text = text.split(encodeURIComponent(token)).join('***').split(token).join('***');
    return text;
  }

  remember(token: string): string {
    this.tokens.add(token);
    return token;
  }
}

export function urlWithToken(url: string, token: string): string {
  return token ? url.replace('://', `://${encodeURIComponent(token)}@`) : url;
}

/** Settings that match. Those of a machine are on a page of their own where the server runs elsewhere than the window. */
export function openSettings(query: string): Thenable<unknown> {
  return vscode.env.remoteName
    ? vscode.commands.executeCommand('workbench.action.openRemoteSettings', { query })
    : vscode.commands.executeCommand('workbench.action.openSettings', query);
}
