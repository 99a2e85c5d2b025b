// Starts the server with the first document that may hold a kernel or a module, with the Kernels
// view, or with a command. A Python or C++ file without such code does not start it.
import * as vscode from 'vscode';

/** A word without which a text of the language has no kernel; server/workspace_files.cpp has the same test. */
const kWords: Record<string, string> = { cuda: '__global__', 'cuda-cpp': '__global__', python: 'Module', cpp: 'Tensor' };

export function mayHoldKernels(document: vscode.TextDocument): boolean {
  const word = kWords[document.languageId];
  return word !== undefined && ['file', 'untitled'].includes(document.uri.scheme) && document.getText().includes(word);
}

/** Calls `start` once, when a document that may hold a kernel is or comes open. @return what ends the watch */
export function whenNeeded(start: () => void): vscode.Disposable {
  const watches: vscode.Disposable[] = [];
  const look = (document: vscode.TextDocument) => {
    if (!mayHoldKernels(document))
      return;
    watches.splice(0).forEach((watch) => watch.dispose());
    start();
  };
  watches.push(
    vscode.workspace.onDidOpenTextDocument(look),
    vscode.workspace.onDidChangeTextDocument(({ document }) => look(document)),
  );
  [...vscode.workspace.textDocuments].forEach(look);
  return new vscode.Disposable(() => watches.splice(0).forEach((watch) => watch.dispose()));
}
