// The panel of a kernel: the server's page, its roofline, and source next to PTX and machine code,
// linked line by line, before and after. A click on a line marks the lines
// that belong to it on the other sides.
import * as crypto from 'crypto';
import * as vscode from 'vscode';
import { Server } from './client';
import { DetailsRequest, KernelReference, MachineCode, TextDocumentContentRequest } from './protocol';

export class Details {
  private readonly panels = new Map<string, vscode.WebviewPanel>();

  constructor(private readonly server: Server, private readonly context: vscode.ExtensionContext) {}

  async show(reference: KernelReference): Promise<void> {
    const key = `${reference.uri}#${reference.kernel}`;
    const panel = this.panels.get(key) ?? this.open(key, reference);
    panel.reveal(undefined, true);
    panel.webview.html = await this.page(reference);
  }

  private open(key: string, reference: KernelReference): vscode.WebviewPanel {
    const panel = vscode.window.createWebviewPanel(
      'warpwright.details', `${reference.kernel}: Measurements and Machine Code`, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      { enableScripts: true, enableFindWidget: true, localResourceRoots: [] });
    this.panels.set(key, panel);
    panel.onDidDispose(() => this.panels.delete(key), undefined, this.context.subscriptions);
    return panel;
  }

  private async page(reference: KernelReference): Promise<string> {
    const uri = `warpwright:/details/${encodeURIComponent(reference.kernel)}.md?${encodeURIComponent(reference.uri)}`;
    const { text } = await this.server.running.sendRequest(TextDocumentContentRequest, { uri });
    // The server's page ends with the code as text, which is shown here line by line instead.
    const markdown = text.split('\n## Machine code\n')[0];
    const html = await vscode.commands.executeCommand<string>('markdown.api.render', markdown);
    let code = '';
    try {
      const { roofline, before, after } = await this.server.running.sendRequest(DetailsRequest, { uri: reference.uri, kernel: reference.kernel });
      code = `${roofline && `<h2>Plot</h2>${roofline}`}${sideHtml('Before', before)}${sideHtml('After', after)}`;
    } catch (error) {
      code = `<p>${escape(error instanceof Error ? error.message : String(error))}</p>`; // no verified variant, or nothing may be run
    }
    return documentHtml(`${html}<h2>Machine code</h2>${code}`);
  }
}

function escape(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}

/** Lines of a column; each names the lines of the source that it belongs to. */
function column(title: string, lines: string[], sources: Map<number, Set<number>>): string {
  const rows = lines.map((line, index) => {
    const linked = [...(sources.get(index + 1) ?? [])];
    return `<div class="line${linked.length ? ' linked' : ''}" data-lines="${linked.join(' ')}"><span class="number">${index + 1}</span>${escape(line) || ' '}</div>`;
  });
  return `<div class="column"><h4>${title}</h4><pre>${rows.join('')}</pre></div>`;
}

/** The line of the source that each instruction of a disassembly comes from. */
export function instructionLines(sass: string[], rows: MachineCode['rows']): Map<number, Set<number>> {
  const lines = new Map<number, Set<number>>();
  sass.forEach((line, index) => {
    const address = line.match(/^\s*\/\*([0-9a-f]{4,})\*\//);
    if (!address)
      return;
    const at = parseInt(address[1], 16);
    const row = rows.filter(([start]) => start <= at).pop();
    if (row)
      lines.set(index + 1, new Set([row[2]]));
  });
  return lines;
}

function sideHtml(title: string, code: MachineCode): string {
  if (!code.source)
    return `<h3>${title}</h3><p>${escape(code.missing)}</p>`;
  const own = new Map(code.rows.map(([, , line]) => [line, new Set([line])]));
  const ptx = new Map<number, Set<number>>();
  for (const [, line, source] of code.rows)
    ptx.set(line, (ptx.get(line) ?? new Set()).add(source));
  const sass = code.sass.split('\n');
  return `<h3>${title}</h3><div class="columns" data-side="${title}">${column('Source', code.source.split('\n'), own)}${column('PTX', code.ptx.split('\n'), ptx)}${
    code.sass ? column('SASS', sass, instructionLines(sass, code.rows)) : ''}</div>${code.missing && `<p>No SASS: ${escape(code.missing)}.</p>`}`;
}

const kStyle = `
  body { padding: 0 16px; font-family: var(--vscode-font-family); color: var(--vscode-foreground); }
  table { border-collapse: collapse; } td, th { padding: 2px 12px 2px 0; text-align: left; }
  .columns { display: flex; gap: 12px; height: 60vh; } .column { flex: 1; min-width: 0; overflow: auto; border: 1px solid var(--vscode-panel-border); }
  .column h4 { margin: 4px 8px; position: sticky; left: 0; } pre { margin: 0; font-family: var(--vscode-editor-font-family); font-size: var(--vscode-editor-font-size); }
  .line { white-space: pre; } .linked { cursor: pointer; } .number { display: inline-block; width: 4ch; margin-right: 1ch; text-align: right; opacity: .5; }
  .marked { background: var(--vscode-editor-selectionBackground); }
  svg { max-width: 640px; } svg text { fill: var(--vscode-foreground); font-size: 12px; } .grid { stroke: var(--vscode-panel-border); }
  .roof { stroke: var(--vscode-charts-red); stroke-width: 2; } .baseline { stroke: var(--vscode-charts-yellow); stroke-dasharray: 4 4; }
  .reference { fill: var(--vscode-charts-yellow); } .best { fill: var(--vscode-charts-green); }`;

const kScript = `
  document.addEventListener('click', (event) => {
    const line = event.target.closest('.linked');
    if (!line)
      return;
    const lines = new Set(line.dataset.lines.split(' '));
    const side = line.closest('.columns');
    for (const column of side.querySelectorAll('.column')) {
      let first;
      for (const other of column.querySelectorAll('.line')) {
        const isMarked = other.dataset.lines.split(' ').some((one) => one && lines.has(one));
        other.classList.toggle('marked', isMarked);
        first = first ?? (isMarked ? other : undefined);
      }
      if (first && !column.contains(line))
        first.scrollIntoView({ block: 'center' });
    }
  });`;

function documentHtml(body: string): string {
  const nonce = crypto.randomBytes(16).toString('base64');
  return `<!DOCTYPE html><html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'">
<style nonce="${nonce}">${kStyle}</style></head><body>${body}<script nonce="${nonce}">${kScript}</script></body></html>`;
}
