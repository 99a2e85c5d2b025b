// The choice of a runner: the status item, the list of runners, and adding a runner, which is tested
// before it is saved. A runner's token is in the secret storage, under its URL. The server gets it
// inside the URL when it requests its settings.
import * as os from 'os';
import * as vscode from 'vscode';
import { Server } from './client';
import { Job, Runner, RunnerRequest, TestRunnerRequest } from './protocol';
import { Settings, urlWithToken } from './settings';
import { sshHosts } from './ssh_hosts';

interface Known {
  name: string;
  url: string;
}

/** A message of the server as a sentence. */
function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.');
}

const kLocal = 'This machine';
const kCpu = 'CPU backend of this machine';

export class Runners {
  private readonly item: vscode.StatusBarItem;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly server: Server, private readonly settings: Settings, context: vscode.ExtensionContext) {
    this.item = vscode.window.createStatusBarItem('warpwright.runner', vscode.StatusBarAlignment.Right, 50);
    this.item.name = 'Warpwright Runner';
    this.item.command = 'warpwright.runner.choose';
    context.subscriptions.push(this.item);
  }

  /** Shows the runner's state, as far as the server knows it. */
  refresh(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.update();
    }, 100);
  }

  async choose(): Promise<void> {
    const known = this.known();
    const [url, device] = [this.settings.get('runner', ''), this.settings.get('device', '')];
    type Item = vscode.QuickPickItem & { use?: { url: string; device: string }; command?: string; add?: string };
    const hosts = sshHosts().map((host) => `ssh://${host}`).filter((host) => !known.some((runner) => runner.url === host));
    const mark = (isCurrent: boolean) => (isCurrent ? '$(check) ' : '');
    const items: Item[] = [
      { label: `${mark(!url && device !== 'cpu')}${kLocal}`, description: 'its GPU, else its CPU', use: { url: '', device: '' } },
      { label: `${mark(!url && device === 'cpu')}${kCpu}`, description: 'proves variants correct, measures no speed', use: { url: '', device: 'cpu' } },
      ...known.map((runner) => ({
        label: `${mark(url === runner.url)}${runner.name}`, description: runner.url, use: { url: runner.url, device: device === 'cpu' ? '' : device },
      })),
      ...(hosts.length ? [{ label: 'hosts of your ssh configuration', kind: vscode.QuickPickItemKind.Separator }] : []),
      ...hosts.map((host) => ({ label: host.slice('ssh://'.length), description: `${host}: the runner is copied there and started`, add: host })),
      { label: '', kind: vscode.QuickPickItemKind.Separator },
      { label: '$(add) Add a runner…', command: 'warpwright.runner.add' },
      { label: '$(plug) Test the chosen runner', command: 'warpwright.runner.test' },
      ...(known.length ? [{ label: '$(trash) Remove a runner…', command: 'warpwright.runner.remove' }] : []),
    ];
    const chosen = await vscode.window.showQuickPick(items, { title: 'Warpwright: where kernels are measured', matchOnDescription: true });
    if (chosen?.command)
      await vscode.commands.executeCommand(chosen.command);
    if (chosen?.add)
      await this.add(chosen.add);
    if (!chosen?.use)
      return;
    await this.settings.set('device', chosen.use.device || undefined);
    await this.settings.set('runner', chosen.use.url || undefined);
  }

  async test(): Promise<void> {
    const runner = await this.tryUrl(await this.settings.withToken(this.settings.get('runner', '')));
    if (runner.state === 'ready')
      void vscode.window.showInformationMessage(`Warpwright: the runner ${runner.label} answers. ${describeDevices(runner)}`);
    else
      void vscode.window.showErrorMessage(`Warpwright: the runner ${runner.label} cannot be used. ${sentence(runner.message)}`);
    this.refresh(); // the server knows it now, too
  }

  /**
   * Address, token, certificate; tried; kept. What is wrong is said, and asked again where the user wants.
   * @param given the address that was chosen already, whose first question is left out
   */
  async add(given?: string): Promise<void> {
    let address: string | undefined;
    let token = '';
    let certificate: vscode.Uri | undefined;
    for (;;) {
      address = given ?? await vscode.window.showInputBox({
        title: 'Add a runner (1 of 3): address', value: address, ignoreFocusOut: true, placeHolder: 'ssh://user@gpu.example.org',
        prompt: 'ssh://HOST, slurm://PARTITION, docker://IMAGE or kubectl://POD, where the runner is copied to; HOST:PORT of `warpwright-runner serve --listen tls://...`; or unix:/path of a socket',
        validateInput: (text) => problemOfAddress(text.trim()),
      });
      given = undefined;
      if (!address)
        return;
      address = address.trim();
      if (needsToken(address)) {
        const entered = await vscode.window.showInputBox({
          title: 'Add a runner (2 of 3): token', value: token, password: true, ignoreFocusOut: true,
          prompt: "A token of the runner's --token-file. It is kept in VS Code's secret storage, not in your settings.",
          validateInput: (text) => (text.trim().length >= 16 ? undefined : 'Tokens have 16 characters or more.'),
        });
        if (entered === undefined)
          return;
        token = entered.trim();
        const trust = await chooseCertificate(certificate);
        if (trust === 'cancelled')
          return;
        certificate = trust;
      }
      const url = urlOf(address, certificate);
      this.settings.remember(token);
      const runner = await this.tryUrl(urlWithToken(url, token));
      if (runner.state === 'ready')
        return this.keep({ name: runner.label, url }, token, `answers. ${describeDevices(runner)}`);
      const answer = await vscode.window.showErrorMessage(
        `The runner ${runner.label} cannot be used.`, { modal: true, detail: sentence(runner.message) }, 'Edit', 'Keep Anyway');
      if (answer === 'Keep Anyway')
        return this.keep({ name: runner.label, url }, token, 'was kept, although it cannot be used now');
      if (answer !== 'Edit')
        return;
    }
  }

  async remove(): Promise<void> {
    const known = this.known();
    const chosen = await vscode.window.showQuickPick(
      known.map((runner) => ({ label: runner.name, description: runner.url, url: runner.url })), { title: 'Warpwright: remove which runner?' });
    if (!chosen)
      return;
    await this.settings.keepToken(chosen.url, '');
    await this.settings.set('runners', known.filter((runner) => runner.url !== chosen.url));
    if (this.settings.get('runner', '') === chosen.url)
      await this.settings.set('runner', undefined);
  }

  private known(): Known[] {
    return this.settings.get<Known[]>('runners', []);
  }

  private async keep(runner: Known, token: string, what: string): Promise<void> {
    await this.settings.keepToken(runner.url, token);
    await this.settings.set('runners', [...this.known().filter((other) => other.url !== runner.url), runner]);
    await this.settings.set('runner', runner.url);
    void vscode.window.showInformationMessage(`Warpwright: the runner ${runner.name} ${what}. It is now used.`);
  }

  private tryUrl(url: string): Thenable<Runner> {
    return vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: 'Warpwright: asking the runner' },
      () => this.server.running.sendRequest(TestRunnerRequest, { url }));
  }

  private async update(): Promise<void> {
    let runner: Runner;
    try {
      runner = await this.server.running.sendRequest(RunnerRequest, {});
    } catch {
      this.item.hide(); // it starts with the first file that has a kernel; a failure is reported elsewhere
      return;
    }
    const device: string = this.settings.get('device', '');
    const best = runner.devices.find((item) => !device || item.kind === device.split(':')[0]);
    const jobs = jobsText(runner.jobs);
    if (runner.state === 'failed')
      this.show('$(warning) Warpwright runner', `The runner ${runner.label} cannot be used.\n\n${sentence(runner.message)}`);
    else if (runner.state === 'untrusted')
      this.show('$(shield) Warpwright', 'This workspace is not trusted: kernels are analyzed, nothing is built or run');
    else if (runner.state === 'ready')
      this.show(`${jobs ? '$(sync~spin)' : '$(server)'} ${best?.kind === 'cpu' ? 'CPU backend' : best?.name ?? 'no device'}${jobs && `: ${jobs}`}`,
        [`Warpwright's runner, ${runner.label}`, ...runner.devices.map((item) => `${item.name}: ${item.detail}`), ...runner.notes].join('\n\n'));
    else if (runner.state === 'unknown')
      this.show('$(server) Warpwright', `Warpwright's runner, ${runner.label}: it is contacted when you optimize. Click to choose or to test one`);
    else
      this.show('$(sync~spin) Warpwright', `Warpwright's runner, ${runner.label || 'on this machine'}: ${runner.state}`);
  }

  private show(text: string, tooltip: string): void {
    this.item.text = text;
    this.item.tooltip = tooltip;
    this.item.show();
  }
}

/** "saxpy, variant 3 of 20 (measuring), 2 waiting"; empty: nothing runs. */
function jobsText(jobs: Job[]): string {
  const waiting = jobs.filter((job) => job.queued).length;
  const running = jobs.filter((job) => !job.queued).map((job) => `${job.kernel}, ${job.text}`);
  return [...running, ...(waiting ? [`${waiting} waiting`] : [])].join(', ');
}

/** "HOST:PORT" or a URL of a kind that is understood; nothing that holds a token. */
export function problemOfAddress(text: string): string | undefined {
  if (/^unix:\/./.test(text) || kShells.test(text))
    return undefined;
  const host = text.replace(/^tls:\/\//, '');
  if (host.includes('@'))
    return 'The token is asked for next; leave it out here.';
  return /^(\[[0-9a-fA-F:]+\]|[^:/?#\s]+):\d{1,5}$/.test(host) ? undefined : 'Write ssh://HOST, HOST:PORT, or unix:/path.';
}

/** Runners that are copied to their place and started: what lies on the way authenticates the user. */
const kShells = /^(ssh|docker|kubectl):\/\/[^\s'"]+$|^slurm:\/\/[^\s'"]*$/;

function needsToken(address: string): boolean {
  return !address.startsWith('unix:') && !kShells.test(address);
}

export function urlOf(address: string, certificate: vscode.Uri | undefined): string {
  if (!needsToken(address))
    return address;
  const url = `tls://${address.replace(/^tls:\/\//, '')}`;
  return certificate ? `${url}?ca=${encodeURIComponent(certificate.fsPath).replace(/%2F/g, '/')}` : url;
}

async function chooseCertificate(present: vscode.Uri | undefined): Promise<vscode.Uri | undefined | 'cancelled'> {
  const [system, file, keep] = ["The system's authorities", 'A certificate file (PEM)…', `As before: ${present?.fsPath}`];
  const answer = await vscode.window.showQuickPick([
    ...(present ? [{ label: keep }] : []),
    { label: file, detail: "The runner's own certificate (runner.pem), or that of the authority which signed it" },
    { label: system, detail: 'For a certificate of a public or company authority that this machine trusts' },
  ], { title: "Add a runner (3 of 3): who vouches for the runner's certificate?", ignoreFocusOut: true });
  if (!answer)
    return 'cancelled';
  if (answer.label !== file)
    return answer.label === keep ? present : undefined;
  const chosen = await vscode.window.showOpenDialog({
    title: 'Certificate', defaultUri: vscode.Uri.file(`${os.homedir()}/`), filters: { Certificates: ['pem', 'crt', 'cer'], All: ['*'] },
  });
  return chosen?.[0] ?? 'cancelled';
}

function describeDevices(runner: Runner): string {
  return runner.devices.length ? `It has ${runner.devices.map((device) => device.name).join(', ')}.` : 'It has no device.';
}
