// The language client: starts the server and reports its state. A review is shown as a diff, and the
// details of a kernel as a panel. In a workspace that is not trusted, a click offers to trust it.
import * as vscode from 'vscode';
import {
  CloseAction, CloseHandlerResult, ErrorAction, ErrorHandler, ErrorHandlerResult, ExecuteCommandRequest, LanguageClient, Middleware,
  State, WorkDoneProgress,
} from 'vscode-languageclient/node';
import { Changed, KernelReference, kCancel, kDetails, kOptimize, kProfile, kReview, OptimizeResult, speedupText } from './protocol';
import { linkToPages, registerRulePages } from './diagnostics';
import { findServer, serverOptions } from './server_path';
import { openSettings, Settings } from './settings';

const kMaxRestarts = 4;
const kRestartWindowMs = 3 * 60_000;

/** Callbacks for the client's answers. */
export interface Hooks {
  /** Shows a variant beside the code. */
  review(reference: KernelReference): Promise<void>;
  /** Shows the measurements and the machine code of a kernel. */
  details(reference: KernelReference): Promise<void>;
  /** Kernels, measurements or the runner may have changed. */
  changed(): void;
}

/** Restarts a server that ended, and says so. */
class Restarts implements ErrorHandler {
  private readonly times: number[] = [];
  constructor(private readonly owner: Server) {}

  error(): ErrorHandlerResult {
    return { action: ErrorAction.Continue };
  }

  closed(): CloseHandlerResult {
    const now = Date.now();
    this.times.push(now);
    while (now - this.times[0] > kRestartWindowMs)
      this.times.shift();
    const gaveUp = this.times.length > kMaxRestarts;
    this.owner.reportEnd(gaveUp);
    return { action: gaveUp ? CloseAction.DoNotRestart : CloseAction.Restart, handled: true };
  }
}

/** Without a token, and without the error that the client makes of a server's planned end. */
function logged(text: string, settings: Settings): string {
  return settings.redact(text).replace(/\[Error (.*)\] Server process exited with code 0\./, '[Info $1] The server has ended.');
}

/** An output channel whose lines are as `logged` has them. */
function redacting(channel: vscode.OutputChannel, settings: Settings): vscode.OutputChannel {
  return new Proxy(channel, {
    get(target, name) {
      const member = Reflect.get(target, name);
      if (typeof member !== 'function')
        return member;
      return (...values: unknown[]) =>
        member.apply(target, values.map((value) => (typeof value === 'string' ? logged(value, settings) : value)));
    },
  });
}

function keyOf(reference: KernelReference): string {
  return `${reference.uri}#${reference.kernel}`;
}

export class Server {
  readonly log: vscode.OutputChannel;
  private client: LanguageClient | undefined;
  private starting: Promise<void> | undefined;
  private isStopping = false;
  private lastToken = 0;
  private readonly cancelled = new Set<string>(); ///< kernels whose optimization the user ended

  constructor(private readonly context: vscode.ExtensionContext, private readonly settings: Settings, private readonly hooks: Hooks) {
    this.log = redacting(vscode.window.createOutputChannel('Warpwright'), settings);
    registerRulePages(context);
    context.subscriptions.push(this.log);
  }

  /** The client when it is up; else an error that says so. */
  get running(): LanguageClient {
    if (!this.client?.isRunning())
      throw new Error("Warpwright's server is not running. 'Warpwright: Show Log' says why, 'Warpwright: Restart Language Server' tries again.");
    return this.client;
  }

  get wasStarted(): boolean {
    return this.starting !== undefined;
  }

  /** Starts the server unless it was started before. */
  ensureStarted(): Promise<void> {
    this.starting ??= this.start();
    return this.starting;
  }

  private async start(): Promise<void> {
    this.isStopping = false;
    const found = findServer(this.context);
    if ('problem' in found)
      return this.reportProblem(found.problem);
    const initial = await this.settings.forServer();
    const client = new LanguageClient('warpwright', 'Warpwright', { command: found.path, args: serverOptions().args, options: { env: serverOptions().env } }, {
      documentSelector: ['cuda-cpp', 'cuda', 'python', 'cpp'].flatMap((language) => [
        { scheme: 'file', language }, { scheme: 'untitled', language },
      ]),
      initializationOptions: initial,
      outputChannel: this.log,
      traceOutputChannel: this.log,
      diagnosticCollectionName: 'warpwright',
      errorHandler: new Restarts(this),
      middleware: this.middleware(),
      markdown: { supportHtml: false },
    });
    client.registerFeature({
      fillClientCapabilities: (capabilities) => {
        capabilities.experimental = { ...capabilities.experimental, warpwright: { changed: true, questions: true } };
        delete capabilities.textDocument?.diagnostic; // published ones arrive without a request
      },
      initialize: () => undefined,
      getState: () => ({ kind: 'static' }),
      clear: () => undefined,
    });
    client.onDidChangeState(({ newState }) => {
      void vscode.commands.executeCommand('setContext', 'warpwright.failed', newState === State.Stopped);
      this.hooks.changed();
    });
    client.onNotification(Changed, () => this.hooks.changed());
    this.client = client;
    try {
      await client.start();
      this.log.appendLine(`Started ${found.path}`);
      await vscode.commands.executeCommand('setContext', 'warpwright.active', true);
    } catch (error) {
      await this.reportProblem(`Warpwright could not start '${found.path}': ${error instanceof Error ? error.message : error}`);
    }
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    this.starting = undefined;
    const client = this.client;
    this.client = undefined;
    try {
      await client?.dispose();
    } catch {
      // it never started, or has ended already
    }
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.ensureStarted();
  }

  /** Tells the server to ask for its settings again. */
  async pushSettings(): Promise<void> {
    if (this.client?.isRunning())
      await this.client.sendNotification('workspace/didChangeConfiguration', { settings: null });
  }

  /** Runs a command of the server, past the middleware. */
  execute(command: string, reference: KernelReference): Promise<unknown> {
    this.noteCancel(command, reference);
    return this.running.sendRequest(ExecuteCommandRequest.type, { command, arguments: [reference] });
  }

  /** Optimizes or profiles a kernel and reports where it is. @return nothing when it was cancelled */
  async runJob(command: string, reference: KernelReference, progress: (message: string, percentage: number) => void, cancel: vscode.CancellationToken):
    Promise<OptimizeResult | undefined> {
    const client = this.running;
    const workDoneToken = `optimize-${++this.lastToken}`;
    const listener = client.onProgress(WorkDoneProgress.type, workDoneToken, (value) => {
      if (value.kind === 'report')
        progress(value.message ?? '', value.percentage ?? 0);
    });
    try {
      return await client.sendRequest(ExecuteCommandRequest.type, { command, arguments: [reference], workDoneToken }, cancel);
    } catch (error) {
      if (cancel.isCancellationRequested || !client.isRunning() || client !== this.client)
        return undefined; // cancelled; or the server ended, which is said once
      throw error;
    } finally {
      listener.dispose();
    }
  }

  reportEnd(gaveUp: boolean): void {
    if (this.isStopping)
      return;
    const text = gaveUp
      ? `Warpwright's server ended ${kMaxRestarts + 1} times within three minutes, so it is left off.`
      : "Warpwright's server ended unexpectedly and was started again. What was measured is kept; an optimization that was running is not.";
    void (async () => {
      const answer = await vscode.window.showWarningMessage(text, 'Show Log', ...(gaveUp ? ['Restart'] : []));
      if (answer === 'Show Log')
        this.log.show();
      else if (answer === 'Restart')
        await this.restart();
    })();
  }

  private async reportProblem(problem: string): Promise<void> {
    await vscode.commands.executeCommand('setContext', 'warpwright.failed', true);
    this.log.appendLine(problem);
    void vscode.window.showErrorMessage(problem, 'Open Settings', 'Show Log').then((answer) => {
      if (answer === 'Open Settings')
        void openSettings('warpwright.server.path');
      else if (answer === 'Show Log')
        this.log.show();
    });
  }

  private middleware(): Middleware {
    return {
      workspace: {
        configuration: async (params) => Promise.all(params.items.map((item) => (item.section === 'warpwright' ? this.settings.forServer(item.scopeUri ? vscode.Uri.parse(item.scopeUri) : undefined) : null))),
      },
      handleDiagnostics: (uri, diagnostics, next) => {
        linkToPages(diagnostics);
        next(uri, diagnostics);
      },
      executeCommand: (command, args, next) => this.runCommand(command, args as KernelReference[], () => next(command, args)),
    };
  }

  /** Commands of lenses and actions. */
  private async runCommand(command: string, [reference]: KernelReference[], next: () => unknown): Promise<unknown> {
    const runs = command === kOptimize || command === kProfile;
    if (runs && !vscode.workspace.isTrusted)
      return askForTrust();
    if (command === kReview)
      return this.hooks.review(reference);
    if (command === kDetails)
      return this.hooks.details(reference);
    this.noteCancel(command, reference);
    if (!runs)
      return next();
    const doing = command === kProfile ? 'profiling' : 'optimizing';
    const result = await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, title: `Warpwright: ${doing} ${reference.kernel}`, cancellable: true },
      (progress, token) => {
        let reported = 0;
        return this.runJob(command, reference, (message, percentage) => {
          progress.report({ message, increment: Math.max(0, percentage - reported) });
          reported = Math.max(reported, percentage);
        }, token);
      });
    if (result && !this.cancelled.has(keyOf(reference)))
      void this.tell(reference, result);
    return result;
  }

  /** From a lens or the Kernels view: there is no need to tell what came of it. */
  private noteCancel(command: string, reference: KernelReference): void {
    if (command === kCancel)
      this.cancelled.add(keyOf(reference));
    else if (command === kOptimize)
      this.cancelled.delete(keyOf(reference));
  }

  /** Reports the result of an optimization to a user who has left its file. */
  private async tell(reference: KernelReference, result: OptimizeResult): Promise<void> {
    if (result.profile) {
      if (await vscode.window.showInformationMessage(`Warpwright: ${result.kernel}, ${result.profile}.`, 'Show') === 'Show')
        await this.hooks.details({ uri: reference.uri, kernel: reference.kernel });
      return;
    }
    if (result.tried === 0) {
      if (await vscode.window.showInformationMessage(`Warpwright: no variant of ${result.kernel} was tried.`, 'Show Log') === 'Show Log')
        this.log.show();
      return;
    }
    if (!result.best && result.verified === 0) {
      void vscode.window.showInformationMessage(`Warpwright: ${result.tried} ${result.tried === 1 ? 'variant' : 'variants'} of ${result.kernel} tried, none verified.`);
      return;
    }
    const text = result.keep ? `Warpwright: ${result.kernel}, ${result.keep}.`
      : result.best ? `Warpwright: ${result.kernel}, best verified ${speedupText(result.best)}.`
      : `Warpwright: ${result.verified} of ${result.tried} variants of ${result.kernel} verified, none measured as faster.`;
    if (await vscode.window.showInformationMessage(text, 'Review') === 'Review')
      await this.hooks.review({ uri: reference.uri, kernel: reference.kernel });
  }
}

async function askForTrust(): Promise<void> {
  const manage = 'Manage Workspace Trust';
  const answer = await vscode.window.showWarningMessage(
    'This workspace is not trusted, so Warpwright builds and runs nothing of it.', manage);
  if (answer === manage)
    await vscode.commands.executeCommand('workbench.trust.manage');
}
