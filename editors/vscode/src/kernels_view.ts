// The Kernels view: files of the workspace, their kernels with state, and verified variants below
// them. The contents come from the server. This file has the icons, the commands and the refreshes.
import * as vscode from 'vscode';
import { Server } from './client';
import { Kernel, KernelReference, KernelsRequest, KernelState, kCancel, kOptimize, Variant, speedupText } from './protocol';
import { Settings } from './settings';

const kMaxFiles = 3000;
const kQuietMs = 250;

type Node =
  | { kind: 'file'; uri: vscode.Uri; kernels: Kernel[] }
  | { kind: 'kernel'; kernel: Kernel }
  | { kind: 'variant'; kernel: Kernel; variant: Variant };

const icons: Record<KernelState, [string, string?]> = {
  notMeasured: ['circle-outline'],
  missingFacts: ['question', 'list.warningForeground'],
  queued: ['watch'],
  measuring: ['loading~spin'],
  faster: ['rocket', 'charts.green'],
  checked: ['verified', 'charts.blue'],
  nothingFaster: ['circle-slash'],
  applied: ['check', 'charts.green'],
  stale: ['history', 'list.warningForeground'],
};

function isRunning(kernel: Kernel): boolean {
  return kernel.state === 'queued' || kernel.state === 'measuring';
}

/** The kernel that a command of the view, of an action or of the palette refers to. */
export type Target = Node | KernelReference | undefined;

export class KernelsView implements vscode.TreeDataProvider<Node> {
  private readonly changed = new vscode.EventEmitter<Node | undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view: vscode.TreeView<Node>;
  private files: Promise<string[]> | undefined;
  private kernels: Kernel[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly server: Server, private readonly settings: Settings, context: vscode.ExtensionContext) {
    this.view = vscode.window.createTreeView('warpwright.kernels', { treeDataProvider: this, showCollapseAll: true });
    const watcher = vscode.workspace.createFileSystemWatcher('**/*.{cu,cuh,py,cpp,cc,cxx}');
    context.subscriptions.push(
      this.changed, this.view, watcher,
      watcher.onDidCreate(() => this.forgetFiles()),
      watcher.onDidDelete(() => this.forgetFiles()),
      watcher.onDidChange(() => this.refresh()),
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.forgetFiles()),
      this.view.onDidChangeVisibility(({ visible }) => visible && this.refresh()),
    );
  }

  /** Asks again, once it is quiet for a moment; only while somebody looks. */
  refresh(): void {
    if (!this.view.visible || this.timer)
      return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.changed.fire(undefined);
    }, kQuietMs);
  }

  forgetFiles(): void {
    this.files = undefined;
    this.refresh();
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (node?.kind === 'file')
      return node.kernels.map((kernel) => ({ kind: 'kernel', kernel }));
    if (node?.kind === 'kernel')
      return node.kernel.variants.map((variant) => ({ kind: 'variant', kernel: node.kernel, variant }));
    if (node)
      return [];
    const kernels = await this.load();
    const files = [...new Set(kernels.map((kernel) => kernel.uri))].map((uri): Node => ({
      kind: 'file', uri: vscode.Uri.parse(uri), kernels: kernels.filter((kernel) => kernel.uri === uri),
    }));
    const running = kernels.filter(isRunning).length;
    this.view.badge = running ? { value: running, tooltip: `${running} optimizations waiting or running` } : undefined;
    return files;
  }

  getTreeItem(node: Node): vscode.TreeItem {
    return node.kind === 'file' ? fileItem(node.uri, node.kernels) : node.kind === 'kernel' ? kernelItem(node.kernel) : variantItem(node.kernel, node.variant);
  }

  /** The kernels of the workspace and of open files. */
  async load(): Promise<Kernel[]> {
    this.files ??= this.findFiles();
    const uris = new Set(await this.files);
    for (const document of vscode.workspace.textDocuments)
      if (['file', 'untitled'].includes(document.uri.scheme) && /^(cuda|cuda-cpp|python|cpp)$/.test(document.languageId))
        uris.add(document.uri.toString());
    try {
      await this.server.ensureStarted();
      const { kernels } = await this.server.running.sendRequest(KernelsRequest, { uris: [...uris] });
      const place = new Map([...uris].map((uri, index) => [uri, index])); // the answer has open files first; rows shall stay where they are
      this.kernels = kernels.sort((one, other) => (place.get(one.uri) ?? uris.size) - (place.get(other.uri) ?? uris.size));
    } catch {
      this.kernels = []; // the server is down, which is said elsewhere
    }
    return this.kernels;
  }

  async reveal(target: Target): Promise<void> {
    const kernel = target && 'kind' in target && target.kind !== 'file' ? target.kernel : undefined;
    if (!kernel)
      return;
    const { start, end } = kernel.range;
    const selection = new vscode.Range(start.line, start.character, end.line, end.character);
    await vscode.window.showTextDocument(vscode.Uri.parse(kernel.uri), { selection });
  }

  /** Optimizes one kernel the way a click on its lens does. */
  async optimize(target: Target): Promise<void> {
    const reference = await this.referenceOf(target, 'optimize', (kernel) => !isRunning(kernel) && kernel.state !== 'missingFacts');
    if (!reference)
      return;
    await vscode.workspace.openTextDocument(vscode.Uri.parse(reference.uri)); // the server needs its text
    await vscode.commands.executeCommand(kOptimize, reference);
  }

  async cancel(target: Target): Promise<void> {
    const reference = await this.referenceOf(target, 'cancel', isRunning);
    if (reference)
      await this.server.execute(kCancel, reference);
  }

  /** One after the other, in one display of progress; cancelling ends what runs and what waits. */
  async optimizeAll(): Promise<void> {
    const kernels = (await this.load()).filter((kernel) => !isRunning(kernel) && kernel.state !== 'missingFacts');
    if (kernels.length === 0) {
      void vscode.window.showInformationMessage('Warpwright: no kernel of this workspace can be optimized as it stands.');
      return;
    }
    const budget = this.settings.get('budget', 30);
    const answer = await vscode.window.showInformationMessage(
      `Optimize ${kernels.length} kernels? This takes up to ${Math.ceil((kernels.length * budget) / 60)} minutes.`, { modal: true }, 'Optimize');
    if (answer !== 'Optimize')
      return;
    let faster = 0;
    let verified = 0;
    let failed = 0;
    await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, cancellable: true, title: 'Warpwright' }, async (progress, token) => {
      for (const [index, kernel] of kernels.entries()) {
        if (token.isCancellationRequested)
          return;
        const where = `kernel ${index + 1} of ${kernels.length}, ${kernel.kernel}`;
        progress.report({ message: where, increment: index ? 100 / kernels.length : 0 });
        try {
          await vscode.workspace.openTextDocument(vscode.Uri.parse(kernel.uri));
          const result = await this.server.runJob(
            kOptimize, { uri: kernel.uri, kernel: kernel.kernel }, (message) => progress.report({ message: `${where}: ${message}` }), token);
          faster += result?.best ? 1 : 0;
          verified += result?.verified ? 1 : 0;
        } catch (error) {
          ++failed;
          this.server.log.appendLine(`${kernel.kernel}: ${error instanceof Error ? error.message : error}`);
        }
      }
    });
    void vscode.window.showInformationMessage(
      `Warpwright: of ${kernels.length} kernels ${faster} have a faster verified variant, ${verified - faster} only checked ones${failed ? `, ${failed} could not be optimized (see the log)` : ''}.`);
  }

  /** The kernel that a command is about: the node's, the reference's, or, from the palette, the one at the cursor or a chosen one. */
  async referenceOf(target: Target, what: string, suits: (kernel: Kernel) => boolean): Promise<KernelReference | undefined> {
    if (target && 'kind' in target)
      return target.kind === 'file' ? undefined
        : { uri: target.kernel.uri, kernel: target.kernel.kernel, plan: target.kind === 'variant' ? target.variant.plan : undefined };
    if (target)
      return target;
    const editor = vscode.window.activeTextEditor;
    if (!editor)
      return undefined;
    const uri = editor.document.uri.toString();
    const { kernels } = await this.server.running.sendRequest(KernelsRequest, { uris: [uri] });
    const fitting = kernels.filter(suits);
    const above = fitting.filter((kernel) => kernel.range.start.line <= editor.selection.active.line);
    const chosen = fitting.length < 2 ? fitting[0] : (await vscode.window.showQuickPick(
      fitting.map((kernel) => ({ label: kernel.kernel, description: kernel.text, kernel, picked: kernel === above[above.length - 1] })),
      { title: `Warpwright: which kernel to ${what}?` }))?.kernel;
    if (fitting.length === 0)
      void vscode.window.showInformationMessage(`Warpwright: this file has no kernel to ${what}.`);
    return chosen && { uri, kernel: chosen.kernel };
  }

  private async findFiles(): Promise<string[]> {
    const found: string[] = [];
    for (const folder of vscode.workspace.workspaceFolders ?? []) {
      const pattern = new vscode.RelativePattern(folder, this.settings.get('kernels.include', '', folder.uri));
      const excluded = Object.entries({
        ...vscode.workspace.getConfiguration('files', folder.uri).get<Record<string, boolean>>('exclude'),
        ...vscode.workspace.getConfiguration('search', folder.uri).get<Record<string, boolean>>('exclude'),
      }).filter(([, on]) => on === true).map(([glob]) => glob);
      const files = await vscode.workspace.findFiles(pattern, excluded.length ? `{${excluded.join(',')}}` : null, kMaxFiles);
      found.push(...files.map((uri) => uri.toString()));
    }
    return found.sort();
  }
}

function fileItem(uri: vscode.Uri, kernels: Kernel[]): vscode.TreeItem {
  const item = new vscode.TreeItem(uri, vscode.TreeItemCollapsibleState.Expanded);
  item.id = uri.toString();
  item.contextValue = 'file';
  item.iconPath = vscode.ThemeIcon.File;
  const folder = vscode.workspace.asRelativePath(uri).split('/').slice(0, -1).join('/');
  item.description = [folder, `${kernels.length} ${kernels.length === 1 ? 'kernel' : 'kernels'}`].filter(Boolean).join(' · ');
  return item;
}

function kernelItem(kernel: Kernel): vscode.TreeItem {
  const item = new vscode.TreeItem(kernel.kernel,
    kernel.variants.length ? vscode.TreeItemCollapsibleState.Collapsed : vscode.TreeItemCollapsibleState.None);
  const [icon, color] = icons[kernel.state];
  const best = kernel.variants[0];
  item.id = `${kernel.uri}#${kernel.kernel}`;
  item.iconPath = new vscode.ThemeIcon(icon, color ? new vscode.ThemeColor(color) : undefined);
  item.description = kernel.state === 'faster' && best?.speedup && kernel.language === 'cuda'
    ? `${best.speedup.ratio.toFixed(2)}x · ${best.speedup.device}` : kernel.text;
  item.tooltip = `${kernel.kernel}: ${kernel.text}`;
  item.contextValue = ['kernel', isRunning(kernel) ? 'running' : '', kernel.state === 'missingFacts' ? 'missing' : '', best && !isRunning(kernel) ? 'better' : '']
    .filter(Boolean).join('.');
  item.command = { title: 'Reveal', command: 'warpwright.kernel.reveal', arguments: [{ kind: 'kernel', kernel }] };
  return item;
}

function variantItem(kernel: Kernel, variant: Variant): vscode.TreeItem {
  const moves = variant.moves.join(', ');
  const item = new vscode.TreeItem(variant.speedup ? `${variant.speedup.ratio.toFixed(2)}x` : moves, vscode.TreeItemCollapsibleState.None);
  item.description = variant.speedup ? moves : 'correct on the CPU backend, speed not measured';
  item.tooltip = `${moves}\n${variant.speedup ? speedupText(variant.speedup) : item.description}\n${variant.device}, ${variant.date}`;
  item.iconPath = new vscode.ThemeIcon(variant.speedup ? 'zap' : 'verified');
  item.contextValue = 'variant';
  item.command = { title: 'Review', command: 'warpwright.kernel.review', arguments: [{ uri: kernel.uri, kernel: kernel.kernel, plan: variant.plan }] };
  return item;
}
