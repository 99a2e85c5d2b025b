// Trust: an agent builds and runs nothing before the user has approved it, and cannot answer in the
// user's place.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call, connectLegacy, connectModern, HttpServer, modern, patience, refusal } from './lib/clients.mjs';
import { Project, replaced, softmax } from './lib/project.mjs';

const file = 'src/softmax.cu', kernel = 'softmax';
const text = replaced(softmax, 'float sum = 0.0f;', 'float sum = 0;\n  (void)rows;');
const verify = { file, kernel, text };

async function withProject(work, files) {
  const project = new Project(files);
  try {
    await work(project);
  } finally {
    project.remove();
  }
}

for (const [era, connect] of [['2026-07-28', connectModern], ['2025-11-25', connectLegacy]]) {
  test(`${era}: a client that cannot ask is told what the user must run`, () => withProject(async (project) => {
    const client = await connect(project);
    assert.match(await refusal(client, 'verify', verify), new RegExp(`warpwright trust ${project.root}`));
    assert.match(await refusal(client, 'optimize', { file, kernel }), /warpwright trust/);
    assert.equal((await call(client, 'analyze', { file })).kernels.length, 1, 'parsing needs no approval');
    project.trust();
    assert.equal((await call(client, 'verify', verify)).outcome, 'verified');
    await client.close();
  }));

  test(`${era}: the user approves once, for editors as well`, () => withProject(async (project) => {
    const questions = [];
    const client = await connect(project, {
      answer: (params) => {
        questions.push(params);
        return { action: 'accept', content: { decision: 'Trust' } };
      } });
    assert.equal((await call(client, 'verify', verify)).outcome, 'verified');
    assert.equal((await call(client, 'verify', verify)).outcome, 'verified');
    assert.equal(questions.length, 1);
    assert.ok(questions[0].message.includes(`Do you trust ${project.root}?`), questions[0].message);
    assert.deepEqual(questions[0].requestedSchema.properties.decision.enum, ['Trust', 'Not Now']);
    assert.ok(project.isTrusted());
    await client.close();
  }));

  for (const [how, answer] of [
    ['declines', { action: 'decline' }],
    ['says Not Now', { action: 'accept', content: { decision: 'Not Now' } }],
    ['gives no answer of ours', { action: 'accept', content: { decision: 'Sure' } }],
  ])
    test(`${era}: a user who ${how} is not asked again`, () => withProject(async (project) => {
      let questions = 0;
      const client = await connect(project, { answer: () => (questions++, answer) });
      assert.match(await refusal(client, 'verify', verify), /declined/);
      assert.match(await refusal(client, 'verify', verify), /declined/);
      assert.equal(questions, 1);
      assert.ok(!project.isTrusted());
      await client.close();
    }));

  test(`${era}: requests of .warpwright.toml are shown, and approved by themselves`, () => withProject(async (project) => {
    let message;
    const client = await connect(project, {
      answer: (params) => {
        message = params.message;
        return { action: 'accept', content: { decision: 'Trust Folder Only' } };
      } });
    assert.equal((await call(client, 'verify', verify)).outcome, 'verified', 'not by the runner that the file names');
    assert.match(message, /runner = "unix:\/nowhere\/socket"/);
    const { problems } = await call(client, 'analyze', { file });
    assert.match(problems.join(' '), /runner/);
    await client.close();
  }, { [file]: softmax, '.warpwright.toml': 'runner = "unix:/nowhere/socket"\n' }));
}

/** A POST as a client of the modern era sends it. */
function post(server, method, params, { headers = {}, meta = {} } = {}) {
  const name = params.name ?? params.uri;
  return fetch(server.url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': modern,
               'Mcp-Method': method, ...(name ? { 'Mcp-Name': name } : {}), ...server.headers(), ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: {
      'io.modelcontextprotocol/protocolVersion': modern, 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} }, ...meta } } }),
  });
}

test('an answer counts for the question that it was given to', () => withProject(async (project) => {
  const server = await HttpServer.start(project);
  const ask = async (args, more = {}) => (await (await post(server, 'tools/call', { name: 'verify', arguments: args, ...more })).json()).result;
  const yes = { trust: { action: 'accept', content: { decision: 'Trust' } } };
  const asked = await ask(verify);
  assert.equal(asked.resultType, 'input_required');
  assert.equal(asked.inputRequests.trust.method, 'elicitation/create');
  const late = `${Number.parseInt(asked.requestState, 10) + 999}${asked.requestState.slice(asked.requestState.indexOf('.'))}`;
  for (const [args, state] of [[verify, 'forged'], [verify, late], [{ ...verify, text: softmax }, asked.requestState]]) {
    const refused = await ask(args, { inputResponses: yes, requestState: state });
    assert.ok(refused.isError, JSON.stringify(refused));
    assert.match(refused.content[0].text, /another question/);
  }
  const ignored = await ask({ ...verify, inputResponses: yes });
  assert.ok(ignored.isError, 'an argument is no answer');
  assert.ok(!project.isTrusted());
  const done = await ask(verify, { inputResponses: yes, requestState: asked.requestState });
  assert.equal(done.structuredContent.outcome, 'verified');
  assert.ok(project.isTrusted());
  await server.stop();
}));

test('HTTP takes no request without the token, from another site, or with headers that contradict it', () => withProject(async (project) => {
  const server = await HttpServer.start(project);
  const list = (options) => post(server, 'tools/list', {}, options);
  assert.equal((await list()).status, 200);
  assert.equal((await list({ headers: { Authorization: 'Bearer wrong' } })).status, 401);
  assert.equal((await list({ headers: { Authorization: '' } })).status, 401);
  assert.equal((await list({ headers: { Origin: 'https://evil.example' } })).status, 403);
  assert.equal((await list({ headers: { Origin: 'http://localhost:3000' } })).status, 200);
  assert.equal((await list({ headers: { 'Content-Type': 'text/plain' } })).status, 415);
  const code = async (response) => [response.status, (await response.json()).error.code];
  assert.deepEqual(await code(await list({ headers: { 'Mcp-Method': 'tools/call' } })), [400, -32020]);
  assert.deepEqual(await code(await list({ headers: { 'MCP-Protocol-Version': '2025-11-25' } })), [400, -32020]);
  assert.deepEqual(await code(await post(server, 'tools/call', { name: 'analyze', arguments: { file } }, { headers: { 'Mcp-Name': 'optimize' } })), [400, -32020]);
  const encoded = `=?base64?${Buffer.from('analyze').toString('base64')}?=`;
  assert.equal((await post(server, 'tools/call', { name: 'analyze', arguments: { file } }, { headers: { 'Mcp-Name': encoded } })).status, 200);
  assert.deepEqual(await code(await list({ headers: { 'MCP-Protocol-Version': '2030-01-01' }, meta: { 'io.modelcontextprotocol/protocolVersion': '2030-01-01' } })), [400, -32022]);
  assert.deepEqual(await code(await list({ meta: { 'io.modelcontextprotocol/clientCapabilities': undefined } })), [400, -32602]);
  assert.deepEqual(await code(await post(server, 'prompts/list', {})), [404, -32601]);
  for (const method of ['GET', 'DELETE']) assert.equal((await fetch(server.url, { method, headers: server.headers() })).status, 405);
  assert.equal((await fetch(new URL('/other', server.url), { method: 'POST' })).status, 404);
  await server.stop();
}));
