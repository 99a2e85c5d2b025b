// How the server's diagnostics are shown: rules link to their page, rendered, and what another language server says of a line's syntax
// is not said twice. Beside clangd both parse the same text with the same Clang.
import * as vscode from 'vscode';

type Show = (uri: vscode.Uri, diagnostics: vscode.Diagnostic[]) => void;

function ruleOf(diagnostic: vscode.Diagnostic): string {
  return String(typeof diagnostic.code === 'object' ? diagnostic.code.value : diagnostic.code);
}

export class Diagnostics {
  private readonly known = new Map<string, { all: vscode.Diagnostic[]; shown: number; show: Show }>();

  constructor(context: vscode.ExtensionContext) {
    context.subscriptions.push(
      vscode.commands.registerCommand('warpwright.rule.show', (page: string) => vscode.commands.executeCommand('markdown.showPreview', vscode.Uri.parse(page))),
      vscode.languages.onDidChangeDiagnostics(({ uris }) => uris.forEach((uri) => this.othersChanged(uri))),
    );
  }

  handle(uri: vscode.Uri, diagnostics: vscode.Diagnostic[], show: Show): void {
    for (const diagnostic of diagnostics)
      if (typeof diagnostic.code === 'object' && diagnostic.code.target.scheme === 'file')
        diagnostic.code.target = vscode.Uri.parse(
          `command:warpwright.rule.show?${encodeURIComponent(JSON.stringify([diagnostic.code.target.toString()]))}`);
    const shown = this.withoutRepeats(uri, diagnostics);
    this.known.set(uri.toString(), { all: diagnostics, shown: shown.length, show });
    show(uri, shown);
  }

  private othersChanged(uri: vscode.Uri): void {
    const known = this.known.get(uri.toString());
    if (!known)
      return;
    const shown = this.withoutRepeats(uri, known.all);
    if (shown.length === known.shown)
      return;
    known.shown = shown.length;
    known.show(uri, shown);
  }

  private withoutRepeats(uri: vscode.Uri, diagnostics: vscode.Diagnostic[]): vscode.Diagnostic[] {
    const lines = new Set(vscode.languages.getDiagnostics(uri)
      .filter((other) => other.source !== 'warpwright' && other.severity <= vscode.DiagnosticSeverity.Warning)
      .map((other) => other.range.start.line));
    return diagnostics.filter((diagnostic) => ruleOf(diagnostic) !== 'syntax' || !lines.has(diagnostic.range.start.line));
  }
}
