// The protocol's inspector, in its mode for scripts.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Project, warpwright } from './lib/project.mjs';

const folder = path.join(process.env.WARPWRIGHT_INSPECTOR, 'node_modules');
const node = path.join(folder, '.bin/node');
let project;

before(() => {
  project = new Project();
  project.trust();
});
after(() => project?.remove());

function inspect(...words) {
  const entry = JSON.parse(fs.readFileSync(path.join(folder, '@modelcontextprotocol/inspector/package.json'), 'utf8')).bin;
  const program = path.join(folder, '@modelcontextprotocol/inspector', Object.values(entry)[0]);
  const output = execFileSync(
    node, [program, '--cli', warpwright, 'mcp', '--cwd', project.root, ...words],
    { env: { ...project.environment, PATH: `${path.dirname(node)}:${project.environment.PATH}` }, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  return JSON.parse(output);
}

test('the inspector lists the tools and calls one', () => {
  const { tools } = inspect('--method', 'tools/list');
  assert.ok(tools.some((tool) => tool.name === 'verify'));
  const result = inspect('--method', 'tools/call', '--tool-name', 'analyze', '--tool-arg', 'file=src/softmax.cu');
  assert.equal(result.structuredContent.kernels[0].name, 'softmax');
});
