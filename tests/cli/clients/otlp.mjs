// otlp.mjs CLIENTS GUARD STATE PROJECT: a collector that takes what `guard serve --otlp` exports, and holds it against the published
// definition of OTLP: as OpenTelemetry's own exporter has it compiled in. Prints "ok", or what was wrong.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';

const [clients, guard, state, project] = process.argv.slice(2);
const require = createRequire(`${clients}/package.json`);
const root = require('@opentelemetry/otlp-proto-exporter-base/build/src/generated/root.js');
const Request = root.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;

// The JSON mapping of protobuf, but for ids, which are hex here (opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding).
const withIds = (value) => {
  if (Array.isArray(value)) return value.map(withIds);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => {
    const digits = { traceId: 32, spanId: 16 }[key];
    if (!digits) return [key, withIds(one)];
    assert.match(one, new RegExp(`^[0-9a-f]{${digits}}$`), key);
    assert.doesNotMatch(one, /^0+$/, key);
    return [key, Buffer.from(one, 'hex')];
  }));
};
const inHex = (value) => {
  if (Array.isArray(value)) return value.map(inHex);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) =>
    [key, key === 'traceId' || key === 'spanId' ? Buffer.from(one, 'base64').toString('hex') : inHex(one)]));
};

const spans = [];
let refusals = 1;
const problems = [];
const server = http.createServer((request, answer) => {
  let body = '';
  request.setEncoding('utf8').on('data', (piece) => (body += piece)).on('end', () => {
    try {
      assert.equal(`${request.method} ${request.url}`, 'POST /v1/traces');
      assert.equal(request.headers['content-type'], 'application/json');
      const said = JSON.parse(body);
      const message = Request.fromObject(withIds(said));
      assert.equal(Request.verify(message), null);
      // Over the wire and back nothing is lost, so nothing was unknown or of another kind: 64-bit numbers are texts.
      const back = Request.toObject(Request.decode(Request.encode(message).finish()), { longs: String, bytes: String, json: true });
      assert.deepEqual(inHex(back), said);
      if (refusals-- > 0) return answer.writeHead(503).end();
      spans.push(...said.resourceSpans.flatMap((one) => one.scopeSpans.flatMap((scope) => scope.spans)));
      answer.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
    } catch (problem) {
      problems.push(problem);
      answer.writeHead(400).end();
    }
  });
});
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const common = ['--state', state, '--backend', 'namespace'];
const serve = spawn(guard, ['serve', '--quiet', ...common, '--otlp', `http://127.0.0.1:${server.address().port}`],
  { cwd: project, stdio: ['ignore', 'ignore', 'pipe'] });
let told = '';
serve.stderr.setEncoding('utf8').on('data', (text) => (told += text));
for (let i = 0; i < 600 && !existsSync(`${state}/sessions/socket`); ++i) await new Promise((done) => setTimeout(done, 50));
const run = (session, script) =>
  spawnSync(guard, ['session', 'exec', ...common, session, '--', 'bun', '-e', script], { cwd: project }).status;
const before = BigInt(Date.now()) * 1_000_000n;
const key = ['AKIA', 'QYLPMN5HHHFPZAM2'].join('');
assert.equal(run('t/a', `await Bun.write('a', '1'); console.log('printed ${key}')`), 0);
assert.equal(run('t/a', 'process.exit(3)'), 3);
assert.equal(run('t/b', 'process.kill(process.pid, 9)'), 128 + 9);
const ended = new Promise((done) => serve.on('close', done));
serve.kill('SIGTERM');
assert.equal(await ended, 0);
assert.match(told, /answers 503/);
assert.doesNotMatch(told, /not exported to .*:\d+\n$/);
server.close();
if (problems.length > 0) throw problems[0];

const attributes = (span) => Object.fromEntries(span.attributes.map(({ key: name, value }) => [name, Object.values(value)[0]]));
assert.deepEqual(spans.map((span) => [attributes(span)['session.id'], attributes(span)['guard.outcome'], attributes(span)['process.exit.code'],
  attributes(span)['guard.files'], span.status?.code]),
[['t/a', 'exited 0', '0', '1', undefined], ['t/a', 'exited 3', '3', '0', 2], ['t/b', 'signaled 9', undefined, '0', 2]]);
assert.equal(spans[0].traceId, spans[1].traceId);
assert.notEqual(spans[0].traceId, spans[2].traceId);
for (const span of spans) assert.ok(before <= BigInt(span.startTimeUnixNano) && BigInt(span.startTimeUnixNano) <= BigInt(span.endTimeUnixNano));
assert.match(attributes(spans[0])['process.command_line'], /^bun -e .*Bun\.write/);
assert.doesNotMatch(JSON.stringify(spans), new RegExp(key));
console.log('ok');
