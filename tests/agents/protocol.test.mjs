// The protocol by the SDK's clients, which check every result against the schemas: tools,
// resources, progress, cancellation, refusals.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { call, connectLegacy, connectModern, HttpServer, patience, refusal } from './lib/clients.mjs';
import { Project, replaced, softmax } from './lib/project.mjs';

const names = ['analyze', 'suggest', 'optimize', 'job', 'verify', 'measure', 'profile', 'explain', 'diff'];
const file = 'src/softmax.cu', kernel = 'softmax';

for (const [era, connect] of [['2026-07-28', connectModern], ['2025-11-25', connectLegacy]])
  for (const transport of ['stdio', 'http'])
    describe(`${era} over ${transport}`, () => {
      let project, server, client;
      before(async () => {
        project = new Project();
        project.trust();
        server = transport === 'http' ? await HttpServer.start(project) : null;
        client = await connect(project, { server });
      });
      after(async () => {
        await client?.close();
        await server?.stop();
        project?.remove();
      });

      test('tools have a fixed order, and schemas of arguments and results', async () => {
        const { tools } = await client.listTools();
        assert.deepEqual(tools.map((tool) => tool.name), names);
        for (const tool of tools) {
          assert.equal(tool.inputSchema.additionalProperties, false, tool.name);
          assert.equal(tool.outputSchema.type, 'object', tool.name);
          assert.equal(tool.annotations.readOnlyHint, true);
          const words = Object.keys(tool.inputSchema.properties);
          for (const word of ['runner', 'python', 'device', 'tolerance', 'seed', 'sizes'])
            assert.ok(!words.includes(word), `${tool.name} lets an agent choose ${word}`);
        }
      });

      test('analyze, suggest and explain run nothing and say what is known', async () => {
        const facts = await call(client, 'analyze', { file });
        assert.equal(facts.path, file);
        assert.equal(facts.kernels[0].name, kernel);
        assert.deepEqual(facts.kernels[0].task.sizes, { cols: 100, rows: 64 });
        const finding = facts.diagnostics.find((one) => one.rule === 'uncoalesced-access');
        assert.ok(finding, JSON.stringify(facts.diagnostics));
        const moves = await call(client, 'suggest', { file, kernel });
        const online = moves.moves.find((one) => one.move === 'online_softmax');
        assert.ok(online.choices.length > 0 && online.findings.length > 0, JSON.stringify(online));
        assert.match(moves.refused.find((one) => one.move === 'gemm').why, /\w/);
        assert.match((await call(client, 'explain', { file, kernel })).text, /Not measured/);
        assert.match((await call(client, 'explain', { rule: finding.rule })).text, /32\s+sectors/);
      });

      test('wrong calls are refused with what to do', async () => {
        assert.match(await refusal(client, 'analyze', { file: '../../etc/passwd' }), /outside of the project.*--root/s);
        assert.match(await refusal(client, 'analyze', { file: '/etc/hosts' }), /outside of the project/);
        assert.match(await refusal(client, 'analyze', { file: 'src/none.cu' }), /no file src\/none\.cu/);
        assert.match(await refusal(client, 'verify', { file, kernel, runner: 'tls://evil:1' }), /runner/);
        assert.match(await refusal(client, 'verify', { file, kernel: 'none' }), /There are: softmax/);
        assert.match(await refusal(client, 'verify', { file, kernel }), /are those of the original/);
        assert.match(await refusal(client, 'job', { job: 'j99' }), /no search j99/);
        assert.match(await refusal(client, 'explain', {}), /Pass one of them/);
        await assert.rejects(client.callTool({ name: 'shell', arguments: {} }), /no tool shell/);
        await assert.rejects(client.readResource({ uri: 'warpwright://verdict/none' }), /no verdict none/);
      });

      test('a verdict is a result, a resource and a claim; its stages are progress', async () => {
        const text = replaced(softmax, 'for (int j = 0; j < cols; j++)\n    y', 'for (int j = 0; j < cols - 1; j++)\n    y');
        const seen = [];
        const wrong = await call(client, 'verify', { file, kernel, text }, { onprogress: (one) => seen.push(one.progress) });
        assert.equal(wrong.outcome, 'wrong_result');
        assert.equal(wrong.speedup, null);
        assert.equal(wrong.original.from, 'git');
        assert.equal(wrong.original.commit, project.git('rev-parse', 'HEAD').trim());
        assert.ok(wrong.failed_checks.length > 0);
        assert.ok(seen.length > 1 && seen.every((one, index) => index === 0 || one > seen[index - 1]), `${seen}`);
        const { resources } = await client.listResources();
        const uri = `warpwright://verdict/${wrong.verdict}`;
        assert.ok(resources.some((one) => one.uri === uri));
        const { contents } = await client.readResource({ uri });
        assert.equal(JSON.parse(contents[0].text).verdict.outcome, 'wrong_result');
        const source = await client.readResource({ uri: `warpwright://source/${wrong.verdict}` });
        assert.match(source.contents[0].text, /cols - 1/);
        await assert.rejects(client.readResource({ uri: `warpwright://sass/${wrong.verdict}` }), /no code of a GPU/);
        const { resourceTemplates } = await client.listResourceTemplates();
        assert.ok(resourceTemplates.some((one) => one.uriTemplate === 'warpwright://verdict/{id}'));
        assert.match((await call(client, 'explain', { verdict: wrong.verdict })).text, /wrong result/);
        assert.match(await refusal(client, 'diff', { verdict: wrong.verdict }), /not verified/);
      });

      test('measure and profile say why this device gives no numbers', async () => {
        const measured = await call(client, 'measure', { file, kernel });
        assert.equal(measured.time, null);
        assert.match(measured.message, /measures no times/);
        const profiled = await call(client, 'profile', { file, kernel });
        assert.equal(profiled.counters, null);
        assert.match(profiled.message, /ncu/);
      });

      test('a cancelled call ends its search, and the server goes on', async () => {
        const stop = new AbortController();
        const begun = client.callTool(
          { name: 'optimize', arguments: { file, kernel, budget_s: 600 } },
          { ...patience, signal: stop.signal, onprogress: () => stop.abort('enough') });
        await assert.rejects(begun);
        let job;
        const deadline = Date.now() + 60_000;
        do job = await call(client, 'job', { job: 'j1', wait_s: 1 });
        while (job.state === 'running' && Date.now() < deadline);
        assert.equal(job.state, 'cancelled');
      });

      test('a search outlives its first answer', async () => {
        let job = await call(client, 'optimize', { file, kernel, budget_s: 60, max_variants: 4, wait_s: 0 });
        assert.equal(job.state, 'running');
        while (job.state === 'running') job = await call(client, 'job', { job: job.job });
        assert.equal(job.state, 'done');
        assert.ok(job.variants.length > 0);
        assert.equal(job.best.outcome, 'verified');
        assert.match(job.best.summary, /no speedup may be claimed/);
        assert.match(job.diff, /^--- a\/src\/softmax\.cu/);
        assert.equal(project.read(file), softmax, 'no tool writes a file');
      });
    });
