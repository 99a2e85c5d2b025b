// Shows a verified variant next to the user's code and applies it from there. The text comes from
// the server.
import * as vscode from 'vscode';
import { Server } from './client';
import { Kernel, KernelReference, kApply, KernelsRequest, Variant, VariantRequest } from './protocol';

export const kVariantScheme = 'warpwright-variant';

interface Shown {
  reference: KernelReference;
  text: string;
}

export class Variants implements vscode.TextDocumentContentProvider {
  private readonly shown = new Map<string, Shown>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;

  constructor(private readonly server: Server, context: vscode.ExtensionContext) {
    context.subscriptions.push(
      this.changed,
      vscode.workspace.registerTextDocumentContentProvider(kVariantScheme, this),
      vscode.workspace.onDidCloseTextDocument((document) => this.shown.delete(document.uri.toString())),
    );
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.shown.get(uri.toString())?.text ?? '';
  }

  /** Opens the diff of a variant; without a plan the best one. */
  async review(reference: KernelReference): Promise<void> {
    const uri = vscode.Uri.parse(reference.uri);
    const document = await vscode.workspace.openTextDocument(uri);
    const { text, version } = await this.server.running.sendRequest(VariantRequest, { ...reference, version: undefined });
    const variants = (await this.kernelOf(reference))?.variants;
    const variant = variants?.find((item) => !reference.plan || item.plan === reference.plan);
    const right = uri.with({ scheme: kVariantScheme, query: [reference.kernel, reference.plan ?? '', reference.form ?? ''].join('\n'), fragment: '' });
    this.shown.set(right.toString(), { reference: { ...reference, version, plan: reference.plan ?? variant?.plan }, text });
    this.changed.fire(right);
    const name = document.fileName.split('/').pop();
    await vscode.commands.executeCommand('vscode.diff', uri, right, `${name} ↔ ${describe(variant)}`, { preview: true });
  }

  async apply(reference: KernelReference): Promise<void> {
    await vscode.window.showTextDocument(vscode.Uri.parse(reference.uri));
    await this.server.execute(kApply, reference);
  }

  /** Applies what the active diff shows. */
  async applyShown(): Promise<void> {
    const right = activeVariant();
    const shown = right && this.shown.get(right.toString());
    if (!right || !shown)
      return;
    await this.server.execute(kApply, shown.reference);
    await this.close(right);
    const at = (await this.kernelOf(shown.reference))?.range.start ?? { line: 0, character: 0 };
    await vscode.window.showTextDocument(vscode.Uri.parse(shown.reference.uri), { selection: new vscode.Range(at.line, at.character, at.line, at.character) });
  }

  async discardShown(): Promise<void> {
    const right = activeVariant();
    if (right)
      await this.close(right);
  }

  private async close(right: vscode.Uri): Promise<void> {
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter((tab) =>
      tab.input instanceof vscode.TabInputTextDiff && tab.input.modified.toString() === right.toString());
    await vscode.window.tabGroups.close(tabs);
  }

  private async kernelOf(reference: KernelReference): Promise<Kernel | undefined> {
    const { kernels } = await this.server.running.sendRequest(KernelsRequest, { uris: [reference.uri] });
    return kernels.find((item) => item.kernel === reference.kernel);
  }
}

function describe(variant: Variant | undefined): string {
  if (!variant)
    return 'verified variant';
  return `${variant.speedup ? `${variant.speedup.ratio.toFixed(2)}x` : 'checked'}: ${variant.moves.join(', ')}`;
}

/** The right side of the diff in front, when it is one of ours. */
function activeVariant(): vscode.Uri | undefined {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  return input instanceof vscode.TabInputTextDiff && input.modified.scheme === kVariantScheme ? input.modified : undefined;
}
