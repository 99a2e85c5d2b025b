// Clients of the SDK for `warpwright mcp`: of the modern and the legacy era, over stdio and over
// HTTP.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldStdioTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as OldHttpTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { warpwright } from './project.mjs';

export const modern = '2026-07-28';

/** A running `warpwright mcp --http`. */
export class HttpServer {
  static async start(project, options = []) {
    const server = new HttpServer();
    const tokenFile = path.join(project.home, 'token');
    server.process = spawn(
      warpwright,
      ['mcp', '--root', project.root, '--device', 'cpu', '--http', '127.0.0.1:0', '--token-file', tokenFile, ...options],
      { env: project.environment, stdio: ['ignore', 'ignore', 'pipe'] });
    server.url = new URL(await new Promise((resolve, reject) => {
      let said = '';
      server.process.stderr.on('data', (data) => {
        said += data;
        const found = /warpwright mcp on (\S+)/.exec(said);
        if (found) resolve(found[1]);
      });
      server.process.on('exit', () => reject(new Error(`warpwright mcp ended: ${said}`)));
    }));
    server.token = fs.readFileSync(tokenFile, 'utf8').trim();
    return server;
  }

  headers() {
    return { Authorization: `Bearer ${this.token}` };
  }

  async stop() {
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.kill('SIGKILL');
    await ended;
  }
}

const stdioParameters = (project, options) => ({
  command: warpwright,
  args: ['mcp', '--device', 'cpu', ...options],
  cwd: project.root,
  env: project.environment,
});

/** @param answer what the user says to a question: a function of its parameters; null: the client cannot ask */
export async function connectModern(project, { server = null, answer = null, options = [] } = {}) {
  const client = new Client(
    { name: 'warpwright-tests', version: '1' },
    { capabilities: answer ? { elicitation: { form: {} } } : {}, versionNegotiation: { mode: { pin: modern } } });
  if (answer) client.setRequestHandler('elicitation/create', (request) => answer(request.params));
  await client.connect(server
    ? new StreamableHTTPClientTransport(server.url, { requestInit: { headers: server.headers() } })
    : new StdioClientTransport(stdioParameters(project, options)));
  return client;
}

/** The line 1 of the SDK, which speaks 2025-11-25. */
export async function connectLegacy(project, { server = null, answer = null, options = [] } = {}) {
  const client = new OldClient(
    { name: 'warpwright-tests', version: '1' }, { capabilities: answer ? { elicitation: {} } : {} });
  if (answer) client.setRequestHandler(ElicitRequestSchema, (request) => answer(request.params));
  await client.connect(server
    ? new OldHttpTransport(server.url, { requestInit: { headers: server.headers() } })
    : new OldStdioTransport(stdioParameters(project, options)));
  // The two lines of the SDK name a call's arguments differently.
  return {
    close: () => client.close(),
    listTools: () => client.listTools(),
    listResources: () => client.listResources(),
    listResourceTemplates: () => client.listResourceTemplates(),
    readResource: (params) => client.readResource(params),
    callTool: (params, options) => client.callTool(params, undefined, options),
  };
}

export const patience = { timeout: 300_000 };

/** Calls a tool that must succeed. @return its structured content */
export async function call(client, name, args, options = {}) {
  const result = await client.callTool({ name, arguments: args }, { ...patience, ...options });
  if (result.isError) throw new Error(`${name}: ${result.content.map((block) => block.text).join(' ')}`);
  return result.structuredContent;
}

/** Calls a tool that must refuse. @return its message */
export async function refusal(client, name, args) {
  const result = await client.callTool({ name, arguments: args }, patience);
  if (!result.isError) throw new Error(`${name} succeeded: ${JSON.stringify(result.structuredContent)}`);
  return result.content[0].text;
}
