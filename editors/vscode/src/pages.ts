// Whole pages: the doctor's findings, and the report for export.
import { execFile } from 'child_process';
import * as vscode from 'vscode';
import { Server } from './client';
import { ReportRequest } from './protocol';
import { findServer } from './server_path';
import { Settings } from './settings';

const kPageScheme = 'warpwright-page';

interface Finding {
  name: string;
  state: 'found' | 'absent' | 'broken';
  detail: string;
  remedy: string;
}

export class Pages implements vscode.TextDocumentContentProvider {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private doctorPage = '';

  constructor(private readonly server: Server, private readonly settings: Settings, private readonly context: vscode.ExtensionContext) {
    context.subscriptions.push(this.changed, vscode.workspace.registerTextDocumentContentProvider(kPageScheme, this));
  }

  provideTextDocumentContent(): string {
    return this.doctorPage;
  }

  /** Runs `warpwright doctor` and shows what it found. */
  async doctor(): Promise<void> {
    const found = findServer(this.context);
    this.doctorPage = 'problem' in found ? `# Warpwright: doctor\n\n${found.problem}\n` : await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, title: 'Warpwright: looking at this machine' }, () => this.runDoctor(found.path));
    const uri = vscode.Uri.from({ scheme: kPageScheme, path: '/Warpwright doctor.md' });
    this.changed.fire(uri);
    await vscode.commands.executeCommand('markdown.showPreview', uri);
  }

  /** Saves a page on the kernels of the file in front, or of all that were measured in open files. */
  async exportReport(): Promise<void> {
    const active = vscode.window.activeTextEditor?.document.uri;
    const uris = active && ['file', 'untitled'].includes(active.scheme) ? [active.toString()] : undefined;
    const { html, kernels } = await this.server.running.sendRequest(ReportRequest, { uris });
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    const target = await vscode.window.showSaveDialog({
      title: `Report on ${kernels} ${kernels === 1 ? 'kernel' : 'kernels'}`, filters: { 'Web page': ['html'] },
      defaultUri: folder && vscode.Uri.joinPath(folder, 'warpwright-report.html'),
    });
    if (!target)
      return;
    await vscode.workspace.fs.writeFile(target, Buffer.from(html));
    if (await vscode.window.showInformationMessage(`Warpwright: wrote ${target.fsPath}.`, 'Open') === 'Open')
      await vscode.env.openExternal(target);
  }

  private async runDoctor(program: string): Promise<string> {
    const runner = this.settings.get('runner', '');
    const token = await this.settings.withToken(runner);
    const environment = { ...process.env };
    if (token !== runner) // never on a command line, which others can read
      environment.WARPWRIGHT_RUNNER_TOKEN = decodeURIComponent(token.slice(token.indexOf('://') + 3, token.indexOf('@')));
    const args = ['doctor', '--json', ...(runner ? ['--runner', runner] : [])];
    const cwd = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
    const { output, errors } = await new Promise<{ output: string; errors: string }>((resolve) => {
      execFile(program, args, { cwd, env: environment, timeout: 60_000 }, (_, stdout, stderr) => resolve({ output: stdout, errors: stderr }));
    });
    try {
      return doctorPage(program, JSON.parse(output));
    } catch {
      return `# Warpwright: doctor\n\n\`${program} doctor\` gave no answer that can be read.\n\n\`\`\`\n${this.settings.redact(errors || output)}\n\`\`\`\n`;
    }
  }
}

function doctorPage(program: string, found: { version: string; checks: Finding[]; ready: { cpu: boolean; gpu: boolean } }): string {
  const mark = { found: '✓', absent: '–', broken: '✗' };
  const cell = (text: string) => text.replace(/\|/g, '\\|').replace(/\n/g, ' ');
  const conclusion = found.ready.gpu ? 'Ready: variants are verified and measured on the GPU.'
    : found.ready.cpu ? 'Ready to check variants on the CPU. That proves correctness, not speed: for speedups use a GPU.'
      : 'No runner can verify variants. See what is marked ✗ below.';
  const rows = found.checks.map((check) =>
    `| ${mark[check.state]} | ${cell(check.name)} | ${cell(check.detail)}${check.remedy ? `<br>*${cell(check.remedy)}*` : ''} |`);
  return `# Warpwright: doctor\n\n${conclusion}\n\n| | | |\n|---|---|---|\n${rows.join('\n')}\n\nVersion ${found.version}, \`${program}\`.\n`;
}
