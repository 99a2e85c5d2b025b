// Display of the server's diagnostics: the name of a rule links to its page, which opens as rendered
// Markdown.
import * as vscode from 'vscode';

export function registerRulePages(context: vscode.ExtensionContext): void {
  context.subscriptions.push(vscode.commands.registerCommand(
    'warpwright.rule.show', (page: string) => vscode.commands.executeCommand('markdown.showPreview', vscode.Uri.parse(page))));
}

export function linkToPages(diagnostics: vscode.Diagnostic[]): void {
  for (const diagnostic of diagnostics)
    if (typeof diagnostic.code === 'object' && diagnostic.code.target.scheme === 'file')
      diagnostic.code.target = vscode.Uri.parse(
        `command:warpwright.rule.show?${encodeURIComponent(JSON.stringify([diagnostic.code.target.toString()]))}`);
}
