// A scripted agent improves a kernel end to end, as the skill teaches: analyze, suggest, edit,
// verify after each edit, and claim no more than the verdicts say. Its first edits are wrong, and
// it also tries the ways around a verdict that an agent may think of.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { call, connectModern, refusal } from './lib/clients.mjs';
import { Project, replaced, softmax } from './lib/project.mjs';

const file = 'src/softmax.cu', kernel = 'softmax';
let project, client;

before(async () => {
  project = new Project();
  project.trust();
  client = await connectModern(project);
});
after(async () => {
  await client?.close();
  project?.remove();
});

const verify = (more = {}) => call(client, 'verify', { file, kernel, ...more });

test('edits that do not compile, go out of bounds, hang or leave results out are told apart', async () => {
  const edits = {
    compile_failed: replaced(softmax, 'float sum = 0.0f;', 'float sum = zero;'),
    wrong_result: replaced(softmax, '/ sum;', '* sum;'),
    crash: replaced(softmax, 'float largest = x[row * cols];', 'float largest = x[row * cols + 100000000];'),
    timeout: replaced(softmax, 'float sum = 0.0f;', 'float sum = 0.0f;\n  while (largest == largest) __syncthreads();'),
    suspected_cheat: replaced(softmax, 'float sum = 0.0f;', 'float sum = 0.0f;\n  const_cast<float *>(x)[row * cols] = 0;'),
  };
  for (const [outcome, text] of Object.entries(edits)) {
    const verdict = await verify({ text });
    const expected = outcome === 'timeout' ? ['timeout', 'crash'] : [outcome];
    assert.ok(expected.includes(verdict.outcome), `${outcome}: ${JSON.stringify(verdict)}`);
    assert.equal(verdict.speedup, null);
    assert.ok(verdict.next.length > 0 && verdict.message.length > 0);
  }
});

test('the original, its sizes and its tolerance are those of Git, whatever the agent edits', async () => {
  const wrong = replaced(softmax, '/ sum;', '/ sum * 1.5f;');
  const ways = {
    'a looser tolerance in the comment': replaced(wrong, '__global__', '// warpwright: tolerance 1000 1000\n__global__'),
    'other sizes in the program': replaced(wrong, 'rows = 64, cols = 100', 'rows = 1, cols = 1'),
    'another value of the output in the comment': replaced(wrong, '__global__', '// warpwright: y: in float[1]\n__global__'),
  };
  for (const [way, text] of Object.entries(ways)) {
    project.write(file, text);
    const verdict = await verify();
    assert.equal(verdict.outcome, 'wrong_result', `${way}: ${JSON.stringify(verdict)}`);
  }
  project.write(file, softmax);
});

test('a header of the project counts as it was, too', async () => {
  const header = 'inline __device__ float divided(float a, float b) { return a / b; }\n';
  const uses = replaced(replaced(softmax, '#include <cstdio>\n', '#include "divided.cuh"\n'),
    'expf(x[row * cols + j] - largest) / sum;', 'divided(expf(x[row * cols + j] - largest), sum);');
  project.write('src/divided.cuh', header);
  project.write('src/other.cu', uses);
  project.commit('Another softmax');
  project.write('src/divided.cuh', header.replace('a / b', 'a * b'));
  const verdict = await call(client, 'verify', { file: 'src/other.cu', kernel });
  assert.equal(verdict.outcome, 'wrong_result', JSON.stringify(verdict));
  project.write('src/divided.cuh', header);
});

test('the agent finds a verified version, applies it, and the verdict holds for what is in the file', async () => {
  const facts = await call(client, 'analyze', { file });
  assert.ok(facts.diagnostics.some((one) => one.rule === 'uncoalesced-access'));
  const { moves } = await call(client, 'suggest', { file, kernel });
  assert.ok(moves.some((one) => one.findings.some((finding) => finding.rule === 'uncoalesced-access')));
  let job = await call(client, 'optimize', { file, kernel, budget_s: 120, max_variants: 6 });
  while (job.state === 'running') job = await call(client, 'job', { job: job.job });
  assert.equal(job.best.outcome, 'verified');
  assert.equal((await call(client, 'diff', { file, kernel })).outcome, 'verified', 'the ledger has it for other sessions');
  const best = await call(client, 'diff', { verdict: job.best.verdict });
  assert.equal(best.diff, job.diff);
  assert.equal(best.speedup, null, 'the CPU backend measures no speedup');
  project.write(file, best.text);
  const applied = await verify();
  assert.equal(applied.outcome, 'verified');
  assert.match(applied.summary, /no speedup may be claimed/);
  assert.match((await call(client, 'explain', { file, kernel })).text, /The code is a verified variant/);
  const after = await call(client, 'suggest', { file, kernel });
  assert.ok(!after.moves.some((one) => one.move === 'online_softmax'), 'the move is made');
});

test('an edit of its own is verified and recorded for the editor', async () => {
  project.write(file, softmax);
  const text = replaced(replaced(softmax, 'float sum = 0.0f;\n', 'float sum = 0.0f;\n  const float *values = x + row * cols;\n'),
    'sum += expf(x[row * cols + j] - largest);', 'sum += expf(values[j] - largest);');
  project.write(file, text);
  const verdict = await verify();
  assert.equal(verdict.outcome, 'verified', JSON.stringify(verdict));
  assert.match(verdict.moves[0], /^rewrite\(by=agent/);
  assert.equal((await call(client, 'diff', { verdict: verdict.verdict })).diff, '', 'the file has the edit already');
  project.write(file, softmax);
  const again = await call(client, 'diff', { verdict: verdict.verdict });
  assert.match(again.diff, /\+  const float \*values/);
});

test('without Git the file itself is the original, and the edit must be passed', async () => {
  const plain = new Project();
  plain.trust();
  plain.write('new.cu', softmax);
  const other = await connectModern(plain);
  assert.match(await refusal(other, 'verify', { file: 'new.cu', kernel }), /no original to compare with/);
  const text = replaced(softmax, '/ sum;', '* (1.0f / sum);');
  const verdict = await call(other, 'verify', { file: 'new.cu', kernel, text });
  assert.deepEqual(verdict.original, { from: 'disk' });
  assert.match(await refusal(other, 'verify', { file, kernel, text, base: 'nowhere' }), /no revision nowhere/);
  await other.close();
  const pinned = await connectModern(plain, { options: ['--base', 'HEAD'] });
  assert.match(await refusal(pinned, 'verify', { file, kernel, text, base: 'HEAD~1' }), /the user compares with HEAD alone/);
  await pinned.close();
  plain.remove();
});
