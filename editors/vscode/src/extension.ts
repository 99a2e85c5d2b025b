// The VS Code client of `warpwright lsp`. This file connects its parts. The server provides all facts
// about kernels, and decides which variants may be applied.
import * as vscode from 'vscode';
import { Server } from './client';
import { Details } from './details';
import { KernelsView, Target } from './kernels_view';
import { Pages } from './pages';
import { Kernel, KernelReference, kProfile } from './protocol';
import { whenNeeded } from './quiet_start';
import { Runners } from './runners';
import { openSettings, Settings } from './settings';
import { Variants } from './variants';

let server: Server | undefined;

/** A command whose failure is one message, not a stack in a log. */
function command(name: string, run: (target: Target) => unknown): vscode.Disposable {
  return vscode.commands.registerCommand(name, async (target: Target) => {
    try {
      await server?.ensureStarted();
      await run(target);
    } catch (error) {
      void vscode.window.showErrorMessage(`Warpwright: ${error instanceof Error ? error.message : error}`);
    }
  });
}

/** Opens the example of the walkthrough: a copy outside of the extension, which may be changed. */
async function openExample(context: vscode.ExtensionContext): Promise<void> {
  const copy = vscode.Uri.joinPath(context.globalStorageUri, 'transpose.cu');
  try {
    await vscode.workspace.fs.stat(copy);
  } catch {
    await vscode.workspace.fs.copy(vscode.Uri.joinPath(context.extensionUri, 'examples/transpose.cu'), copy);
  }
  await vscode.window.showTextDocument(copy);
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const settings = new Settings(context.secrets);
  const started: Server = new Server(context, settings, {
    review: (reference): Promise<void> => variants.review(reference),
    details: (reference): Promise<void> => details.show(reference),
    changed: () => {
      kernels.refresh();
      runners.refresh();
    },
  });
  server = started;
  const variants: Variants = new Variants(started, context);
  const kernels = new KernelsView(started, settings, context);
  const runners = new Runners(started, settings, context);
  const pages = new Pages(started, settings, context);
  const hasVariant = (kernel: { variants: unknown[] }) => kernel.variants.length > 0;
  const details: Details = new Details(started, context);
  /** A command on a kernel that is named, at the cursor, or chosen. */
  const onKernel = (what: string, suits: (kernel: Kernel) => boolean, run: (reference: KernelReference) => unknown) => async (target: Target) => {
    const reference = await kernels.referenceOf(target, what, suits);
    if (reference)
      await run(reference);
  };

  context.subscriptions.push(
    command('warpwright.kernel.optimize', (target) => kernels.optimize(target)),
    command('warpwright.kernel.cancel', (target) => kernels.cancel(target)),
    command('warpwright.kernel.review', onKernel('review', hasVariant, (reference) => variants.review(reference))),
    command('warpwright.kernel.apply', onKernel('apply a variant to', hasVariant, (reference) => variants.apply(reference))),
    command('warpwright.kernel.details', onKernel('explain', () => true, (reference) => details.show(reference))),
    command('warpwright.kernel.profile', onKernel('profile', hasVariant, (reference) => vscode.commands.executeCommand(kProfile, reference))),
    command('warpwright.kernel.reveal', (target) => kernels.reveal(target)),
    command('warpwright.kernels.optimizeAll', () => kernels.optimizeAll()),
    command('warpwright.kernels.refresh', () => kernels.forgetFiles()),
    command('warpwright.preview.apply', () => variants.applyShown()),
    command('warpwright.preview.discard', () => variants.discardShown()),
    command('warpwright.runner.choose', () => runners.choose()),
    command('warpwright.runner.add', () => runners.add()),
    command('warpwright.runner.test', () => runners.test()),
    command('warpwright.runner.remove', () => runners.remove()),
    command('warpwright.example.open', () => openExample(context)),
    command('warpwright.report.export', () => pages.exportReport()),
    command('warpwright.doctor', () => pages.doctor()),
    command('warpwright.client.restart', () => started.restart()),
    command('warpwright.client.showLog', () => started.log.show()),
    vscode.commands.registerCommand('warpwright.client.openSettings', (query?: string) => openSettings(query ?? '@ext:warpwright.warpwright')),
    vscode.workspace.onDidGrantWorkspaceTrust(() => started.pushSettings()),
    context.secrets.onDidChange(() => started.pushSettings()),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (['path', 'server'].some((name) => event.affectsConfiguration(`warpwright.${name}`))) {
        if (started.wasStarted)
          await started.restart();
      } else if (event.affectsConfiguration('warpwright'))
        await started.pushSettings();
      if (event.affectsConfiguration('warpwright.kernels') || event.affectsConfiguration('files.exclude') || event.affectsConfiguration('search.exclude'))
        kernels.forgetFiles();
      runners.refresh();
    }),
  );
  context.subscriptions.push(whenNeeded(() => void started.ensureStarted().then(() => runners.refresh())));
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}
