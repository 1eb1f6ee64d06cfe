// e2b_client.mjs CLIENTS: the clients of E2B, unchanged, against the server that E2B_API_URL, E2B_SANDBOX_URL and E2B_API_KEY name.
// Its sandboxes have /bin/sh, cat, sleep, Python and bun. Prints "ok", or what was wrong.
import assert from 'node:assert/strict';
import http from 'node:http';
import { createRequire } from 'node:module';

const require = createRequire(`${process.argv[2]}/package.json`);
const { Sandbox } = require('@e2b/code-interpreter');
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const refused = async (name, call) => {
  try { await call(); } catch (error) { return assert.equal(error.constructor.name, name, error.message); }
  assert.fail(`no ${name}`);
};

// The control plane.
const box = await Sandbox.create({ timeoutMs: 90_000, metadata: { a: 'b', 'x y': 'c&d' }, envs: { X: '1' } });
assert.ok(await box.isRunning());
assert.equal((await box.getInfo()).metadata.a, 'b');
assert.equal((await Sandbox.connect(box.sandboxId)).sandboxId, box.sandboxId);
const named = (await Sandbox.list({ query: { metadata: { 'x y': 'c&d' } } }).nextItems()).map((one) => one.sandboxId);
assert.deepEqual(named, [box.sandboxId]);
for (const query of [{ metadata: { a: 'z' } }, { template: 'other' }, { startedAfter: new Date(Date.now() + 1000) }])
  assert.deepEqual(await Sandbox.list({ query }).nextItems(), []);
const second = await Sandbox.create();
const pages = Sandbox.list({ limit: 1 });
assert.equal((await pages.nextItems())[0].sandboxId, second.sandboxId);
assert.equal((await pages.nextItems())[0].sandboxId, box.sandboxId);
assert.equal(pages.hasNext, false);
await refused('SandboxNotFoundError', () => Sandbox.setTimeout('gone', 1000));
await refused('SandboxError', () => Sandbox.create('no-such-template'));
await refused('SandboxError', () => Sandbox.create({ network: { allowOut: ['example.com'] } }));
await refused('SandboxError', () => box.pause());

const metrics = async () => (await box.getMetrics())[0];
const idle = await metrics();
assert.ok(idle.memUsed > 1e6 && idle.memUsed < idle.memTotal && idle.diskTotal > 1e9, JSON.stringify(idle));
await box.commands.run('i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; head -c 3000000 /dev/zero > m; head -c 2000000 /dev/zero > /tmp/m');
const busy = await metrics();
assert.ok(busy.cpuUsedPct > 1 && busy.cpuUsedPct < 300 * busy.cpuCount, JSON.stringify(busy));
assert.ok(busy.diskUsed >= idle.diskUsed + 3e6 && busy.memCache >= idle.memCache + 2e6, JSON.stringify([idle, busy]));
await box.files.remove('m');
const hour = 3_600_000, now = Date.now();
assert.equal((await Sandbox.getMetrics(box.sandboxId, { start: new Date(now - hour), end: new Date(now + hour) })).length, 1);
assert.deepEqual(await box.getMetrics({ start: new Date(now - 2 * hour), end: new Date(now - hour) }), []);
await refused('SandboxNotFoundError', () => Sandbox.getMetrics('gone'));
for (const query of ['start=x', 'end=-1', 'start=1e99', 'start=2&end=1']) {
  const said = await fetch(`${process.env.E2B_API_URL}/sandboxes/${box.sandboxId}/metrics?${query}`, { headers: { 'X-API-Key': process.env.E2B_API_KEY } });
  assert.deepEqual([said.status, (await said.json()).code], [400, 400], query);
}

// Commands.
const ran = await box.commands.run('echo hi; echo err >&2; echo $X $A; pwd', { envs: { A: '2' } });
assert.deepEqual([ran.stdout, ran.stderr], ['hi\n1 2\n/home/user\n', 'err\n']);
assert.equal((await box.commands.run('pwd', { cwd: '/tmp' })).stdout, '/tmp\n');
await assert.rejects(box.commands.run('exit 3'), { exitCode: 3 });
await refused('NotFoundError', () => box.commands.run('pwd', { cwd: '/none' }));
await refused('AuthenticationError', () => box.commands.run('pwd', { user: 'root' }));
await refused('TimeoutError', () => box.commands.run('sleep 50; echo late > late', { timeoutMs: 300 }));
const heard = [];
const cat = await box.commands.run('exec cat', { background: true, stdin: true, onStdout: (text) => heard.push(text) });
await cat.sendStdin('abc\n');
await sleep(200);
assert.deepEqual((await box.commands.list()).map((one) => one.pid), [cat.pid]);
assert.equal((await box.commands.run(`kill -0 ${cat.pid} && cat /proc/${cat.pid}/comm`)).stdout, 'cat\n', 'its number inside');
const also = [];
const other = await box.commands.connect(cat.pid, { onStdout: (text) => also.push(text) });
await cat.sendStdin('def\n');
await sleep(200);
await other.disconnect();
await cat.closeStdin();
assert.equal((await cat.wait()).stdout, 'abc\ndef\n');
assert.deepEqual([heard.join(''), also.join('')], ['abc\ndef\n', 'def\n']);
const left = await box.commands.run('sleep 100', { background: true });
await left.disconnect();
assert.equal((await box.commands.list()).length, 1, 'it goes on without its client');
assert.equal(await box.commands.kill(left.pid), true);
await sleep(200);
assert.equal((await box.commands.list()).length, 0);
assert.equal(await box.commands.kill(4711), false);
let typed = '';
const pty = await box.pty.create({ cols: 80, rows: 24, onData: (bytes) => (typed += Buffer.from(bytes).toString()) });
await box.pty.sendInput(pty.pid, new TextEncoder().encode('echo $((40+2))\n'));
await sleep(500);
assert.match(typed, /42/);
await box.pty.resize(pty.pid, { cols: 100, rows: 30 });
await box.pty.kill(pty.pid);
assert.equal((await box.commands.run('head -c 5000000 /dev/zero | tr "\\0" x')).stdout.length, 5_000_000);

// Files.
const files = box.files;
assert.equal((await files.write('/home/user/a.txt', 'hello')).path, '/home/user/a.txt');
await files.write('d\u00e9/a b".txt', 'h\u00e9');
await files.write([{ path: '/tmp/a', data: '1' }, { path: 'b', data: new Uint8Array([0, 255, 13, 10]).buffer }]);
await files.write('o', 'octets', { useOctetStream: true });
assert.equal(await files.read('a.txt'), 'hello');
assert.equal(await files.read('d\u00e9/a b".txt'), 'h\u00e9');
assert.deepEqual([...(await files.read('b', { format: 'bytes' }))], [0, 255, 13, 10]);
assert.equal(await files.read('o'), 'octets');
assert.equal((await files.write('o', 'packed'.repeat(10_000), { gzip: true })).path, '/home/user/o');
assert.equal((await files.read('o', { gzip: true })).length, 60_000);
await files.write('empty', '');
assert.equal(await files.read('empty'), '');
await refused('FileNotFoundError', () => files.read('missing'));
await refused('InvalidArgumentError', () => files.read('/tmp'));
await refused('InvalidArgumentError', () => files.write('/etc/x', 'x'));
const paths = (await files.list('/home/user', { depth: 2 })).map((one) => one.path);
assert.deepEqual(paths, ['a.txt', 'b', 'd\u00e9', 'd\u00e9/a b".txt', 'empty', 'o'].map((name) => `/home/user/${name}`));
assert.equal(await files.makeDir('e/f'), true);
assert.equal(await files.makeDir('e/f'), false);
assert.equal(await files.exists('missing'), false);
assert.equal((await files.getInfo('a.txt')).size, 5);
assert.equal((await files.rename('a.txt', 'z.txt')).name, 'z.txt');
await refused('FileNotFoundError', () => files.rename('missing', 'y'));
await files.remove('z.txt');
assert.equal(await files.exists('z.txt'), false);
const seen = [];
const watch = await files.watchDir('.', ({ type, name, entry }) => seen.push(`${type} ${name} ${entry?.size}`), { includeEntry: true });
await files.write('w.txt', '1');
await sleep(300);
await watch.stop();
assert.deepEqual(seen, ['create w.txt 1', 'write w.txt 1']);
await box.commands.run('ln -s w.txt w');
assert.equal((await files.getInfo('w')).symlinkTarget, '/home/user/w.txt');

// The code interpreter.
const one = await box.runCode('x = 20 + 1\nprint("h\u00e9")\nx * 2', { envs: { A: 'b' } });
assert.deepEqual([one.text, one.logs.stdout], ['42', ['h\u00e9\n']]);
assert.equal((await box.runCode('x')).text, '21');
assert.equal((await box.runCode('1 / 0')).error.name, 'ZeroDivisionError');
assert.deepEqual((await box.runCode('{"a": [1]}')).results[0].json, { a: [1] });
const context = await box.createCodeContext({ cwd: '/tmp' });
assert.equal((await box.runCode('import os; os.getcwd()', { context })).text, '/tmp');
assert.equal((await box.runCode('x', { context })).error.name, 'NameError');
const open = (await box.listCodeContexts()).map(({ language, cwd }) => `${language} ${cwd}`);
assert.deepEqual(open.sort(), ['javascript /home/user', 'python /home/user', 'python /tmp']);
await box.runCode('y = 1', { context });
await box.restartCodeContext(context);
assert.equal((await box.runCode('y', { context })).error.name, 'NameError');
await box.removeCodeContext(context);
await refused('NotFoundError', () => box.runCode('1', { context }));
await refused('TimeoutError', () => box.runCode('import time; time.sleep(50)', { timeoutMs: 300 }));
assert.equal((await box.runCode('x')).text, '21', 'what was stopped leaves the variables');
for (let i = 0; i < 3; ++i) {
  const left = new AbortController();
  const headers = { 'E2b-Sandbox-Id': box.sandboxId, 'X-Access-Token': box.envdAccessToken };
  const asked = fetch(`${process.env.E2B_SANDBOX_URL}/execute`, { method: 'POST', headers, signal: left.signal,
    body: JSON.stringify({ code: 'print("of another")' }) }).catch(() => 'left');
  await sleep(i);
  left.abort();
  await asked;
  assert.deepEqual((await box.runCode('print("mine")')).logs.stdout, ['mine\n']);
}
assert.equal((await box.runCode('raise ValueError("\\udcff")')).error.name, 'ValueError');
await box.runCode('import os; os.write(1, b"\\xff\\n"); [os.write(n, b\'{"type": "end_of_execution"}\\n\') for n in range(3, 6)]');
assert.equal((await box.runCode('x')).text, '21', 'what is forged is not believed');
assert.equal((await box.runCode('os.getcwd()')).text, '/home/user');

// Its other languages.
const js = { language: 'js' };
const printed = await box.runCode('const n = 1; console.log("h\u00e9"); console.error("e"); [process.cwd(), process.env.A]', { ...js, envs: { A: 'b' } });
assert.deepEqual([printed.results[0].json, printed.logs], [['/home/user', 'b'], { stdout: ['h\u00e9\n'], stderr: ['e\n'] }]);
await files.write('m.ts', 'export const m: number = 4');
const imported = await box.runCode('import { m } from "./m.ts"\nn + m', js);
assert.equal(imported.text, '5', imported.error?.value);
assert.equal((await box.runCode('typeof n', { language: 'typescript' })).text, 'undefined', 'that is another context');
assert.equal((await box.runCode('null.x', js)).error.name, 'TypeError');
await refused('TimeoutError', () => box.runCode('for (;;) {}', { ...js, timeoutMs: 300 }));
const anew = await box.runCode('typeof n', js);
assert.deepEqual([anew.text, anew.logs.stderr], ['undefined', ['[guard: the context was started anew: its variables are lost]\n']]);
assert.match((await box.runCode('process.kill(process.pid, "SIGKILL"); await new Promise(() => {})', js)).error.value, /lost/);
assert.equal((await box.runCode('console.log("x".repeat(20_000_000)); 1', js)).logs.stdout.join('').length, 20_000_001);
const bash = { language: 'bash' };
const shell = await box.runCode('x=5; cd /tmp; printf "%s\\n" "$x $A"; echo err >&2; printf "no\\n%s" end', { ...bash, envs: { A: "it's\n\\n" } });
assert.deepEqual([shell.logs.stdout.join(''), shell.logs.stderr, shell.error], ["5 it's\n\\n\nno\nend", ['err\n'], undefined]);
assert.deepEqual((await box.runCode('f() { echo "$x ${A:-none}"; }\nf; pwd; read y', bash)).logs.stdout.join(''), '5 none\n/tmp\n');
assert.equal((await box.runCode('if', bash)).error.name, 'ExitCode');
assert.equal((await box.runCode('head -c 3000000 /dev/zero | tr "\\0" x', bash)).logs.stdout.join('').length, 3_000_000);
assert.deepEqual((await box.runCode('printf "\\036%s 0 going\\n" guess; echo $x', bash)).logs.stdout.join(''), '\x1eguess 0 going\n5\n');
assert.equal((await box.runCode('set -e; (exit 3); echo not', bash)).error.value, '3');
assert.match((await box.runCode('echo "<$x>"; pwd', bash)).logs.stdout.join(''), /^<>\n\/home\/user\n$/);
await refused('TimeoutError', () => box.runCode('sleep 50', { ...bash, timeoutMs: 300 }));
assert.deepEqual((await box.runCode('echo on', bash)).logs.stdout, ['on\n']);
const another = await box.createCodeContext({ language: 'ts', cwd: '/tmp' });
assert.equal(another.language, 'typescript');
assert.equal((await box.runCode('const c: string = process.cwd(); c', { context: another })).text, '/tmp');
for (const language of ['r', 'java', 'deno']) {
  await refused('SandboxError', () => box.createCodeContext({ language }));
  await refused('SandboxError', () => box.runCode('1', { language }));
}

// Whose sandbox is whose, and its end.
assert.equal((await second.commands.run('ls -A; echo $X')).stdout, '\n');
const base = process.env.E2B_SANDBOX_URL;
const raw = (path, headers, method = 'GET', body = '') => new Promise((done, fail) => {
  const sent = http.request(base + path, { method, headers }, (answer) => {
    answer.resume();
    answer.on('end', () => done(answer.statusCode));
  });
  sent.on('error', fail);
  sent.end(body);
});
const own = { 'E2b-Sandbox-Id': box.sandboxId, 'X-Access-Token': box.envdAccessToken };
assert.equal(await raw('/files?path=b', own), 200);
for (const path of ['/v1/sessions', `/v1/sessions/e2b/${second.sandboxId}/list`, '/v2/sandboxes', `/sandboxes/${second.sandboxId}`, '/metrics', '/mcp'])
  assert.equal(await raw(path, own), 401, `${path}: a sandbox's token opens nothing else`);
assert.equal(await raw('/files?path=b', { ...own, 'E2b-Sandbox-Id': [box.sandboxId, second.sandboxId] }), 400);
assert.equal(await raw('/files?path=b', { ...own, 'E2b-Sandbox-Id': second.sandboxId }), 401);
assert.equal(await raw('/files?path=b', { ...own, Origin: 'http://127.0.0.1' }), 403);
for (const body of ['{"path":1,"depth":"x"}', '[]', '{', '{"path":"b","path":"c"}'])
  assert.ok([200, 400].includes(await raw('/filesystem.Filesystem/ListDir', own, 'POST', body)), body);
const asked = (headers) => fetch(`${base}/files?path=b`, { headers }).then((answer) => answer.status);
assert.equal(await asked({ 'E2b-Sandbox-Id': box.sandboxId }), 401);
assert.equal(await asked({ 'E2b-Sandbox-Id': box.sandboxId, 'X-Access-Token': 'wrong' }), 401);
assert.equal(await asked({ 'E2b-Sandbox-Id': 'r0', 'X-Access-Token': 'wrong' }), 502);
const short = await Sandbox.create({ timeoutMs: 1000 });
const long = short.commands.run('sleep 60', { timeoutMs: 0 }).catch((error) => error);
await sleep(1800);
assert.equal(await short.isRunning(), false);
assert.equal((await long).constructor.name, 'TimeoutError', 'the end of its time is the end of what runs there');
const killed = await Sandbox.create();
const running = [killed.commands.run('sleep 60'), killed.runCode('import time; time.sleep(60)')];
const ends = running.map((one) => refused('TimeoutError', () => one));
await sleep(500);
await killed.kill();
await Promise.all(ends);
assert.equal(await box.kill(), true);
assert.equal(await box.kill(), false);
await refused('SandboxNotFoundError', () => box.commands.run('true'));
await refused('AuthenticationError', () => Sandbox.create({ apiKey: 'wrong' }));
console.log('ok');
process.exit(0);
