// mcp_client.mjs CLIENTS GUARD STATE PROJECT [ADDRESS TOKEN]: the protocol's own client calls every tool of `guard mcp`, or of the
// server at ADDRESS, and validates each answer against the schema that the tool has listed. Prints "ok", or what was wrong.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [clients, guard, state, project, address, token] = process.argv.slice(2);
const require = createRequire(`${clients}/package.json`);
const load = (name) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/client/${name}.js`)).href);
const { Client } = await load('index');

async function connected() {
  const client = new Client({ name: 'a-client', version: '1' });
  if (address) {
    const { StreamableHTTPClientTransport } = await load('streamableHttp');
    await client.connect(new StreamableHTTPClientTransport(new URL(`http://${address}/mcp`),
      { requestInit: { headers: { Authorization: `Bearer ${token}` } } }));
  } else {
    const { StdioClientTransport } = await load('stdio');
    await client.connect(new StdioClientTransport({ command: guard, args: ['mcp', '--state', state, '--backend', 'namespace'],
      cwd: project, env: process.env }));
  }
  return client;
}
const client = await connected();
const second = await connected();
const call = (name, args, options) => client.callTool({ name, arguments: args }, undefined, options);

assert.equal(client.getServerVersion().name, 'guard');
const { tools } = await client.listTools();
assert.equal(tools.length, 7);

const progress = [];
const ran = await call('shell_execute', { command: "bun -e 'await Bun.sleep(2200); console.log(7)'" },
  { onprogress: (one) => progress.push(one.progress) });
assert.equal(ran.structuredContent.stdout, '7\n');
assert.deepEqual(progress.slice(0, 2), [1, 2]);
assert.equal(ran.content[0].text, '7\n[exit code 0]\n');

await call('sandbox_fs_write', { path: 'a.txt', content: 'text' });
assert.equal((await call('sandbox_fs_read', { path: 'a.txt' })).structuredContent.content, 'text');
assert.equal((await call('sandbox_fs_list', {})).structuredContent.entries[0].path, 'a.txt');
// What is no text comes as it is, though base64 looks like a key.
let x = 1;
const picture = Buffer.from(Array.from({ length: 50_000 }, () => ((x = (x * 48271) % 2147483647) >> 8) & 255));
await call('sandbox_fs_write', { path: 'a.png', content: picture.toString('base64'), encoding: 'base64' });
const shown = (await call('sandbox_fs_read', { path: 'a.png' })).structuredContent;
assert.ok(Buffer.from(shown.content, 'base64').equals(picture), JSON.stringify(shown).slice(0, 200));
await call('shell_execute', { command: 'rm a.png' });
const python = await call('python_execute', { code: '1 + 1' });
assert.equal(python.structuredContent.error.code, 'DEPENDENCY_UNSATISFIED', 'the project has no Python');
assert.equal((await call('guard_check', { code: 'export const a = 1' })).structuredContent.verdict, 'allowed');
assert.equal((await call('guard_run', { paths: ['sandbox/a.test.ts'] })).structuredContent.verdict, 'allowed');
const last = await client.readResource({ uri: 'guard://runs/last' });
assert.equal(JSON.parse(last.contents[0].text).verdict, 'allowed');

if (address) {
  await call('guard_check', { code: 'import fs from "fs"; fs.readFileSync("/etc/shadow")' });
  await call('shell_execute', { command: `echo ghp_${'0123456789abcdefghij'.repeat(2).slice(0, 36)}` });
  const metrics = await (await fetch(`http://${address}/metrics`, { headers: { Authorization: `Bearer ${token}` } })).text();
  assert.match(metrics, /^guard_runs_total\{verdict="allowed"\} 1$/m);
  assert.match(metrics, /^guard_findings_total\{rule="[a-z]+\.[a-z_]+"\} 1$/m);
  assert.match(metrics, /^guard_redactions_total\{kind="[a-z_]+"\} 1$/m);
}

// Beside each other, and not in each other's way.
const [one, other] = await Promise.all([call('sandbox_fs_list', {}), second.callTool({ name: 'sandbox_fs_list', arguments: {} })]);
assert.equal(one.structuredContent.entries.length, 1);
assert.equal(other.structuredContent.entries.length, 0);

const abort = new AbortController();
setTimeout(() => abort.abort(), 200);
const slow = "bun -e 'for (;;) { await Bun.write(\"now\", String(Date.now())); await Bun.sleep(20) }'";
await assert.rejects(call('shell_execute', { command: slow }, { signal: abort.signal }));
await new Promise((done) => setTimeout(done, 1000));
const now = async () => (await call('sandbox_fs_read', { path: 'now' })).structuredContent.content;
const before = await now();
await new Promise((done) => setTimeout(done, 200));
assert.equal(await now(), before, 'what was cancelled has ended within a second');

// The transport itself.
if (address) {
  const post = (body, headers = {}, more = {}) => fetch(`http://${address}/mcp`, { method: 'POST', body: JSON.stringify(body),
    headers: { Authorization: `Bearer ${token}`, Accept: 'application/json', ...headers }, ...more });
  const begin = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18' } };
  const tool = (name, args) => ({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name, arguments: args } });
  assert.equal((await post(begin, { Authorization: 'Bearer wrong' })).status, 403);
  const begun = await post(begin);
  const session = { 'Mcp-Session-Id': begun.headers.get('mcp-session-id') };
  assert.equal((await post(tool('sandbox_fs_list', {}))).status, 400);
  assert.equal((await post(tool('sandbox_fs_list', {}), { 'Mcp-Session-Id': 'r0' })).status, 404);
  assert.equal((await post(tool('sandbox_fs_list', {}), { ...session, 'MCP-Protocol-Version': '1' })).status, 400);
  assert.equal((await post({}, session)).status, 400);
  assert.equal((await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, session)).status, 202);
  const echoed = await post(tool('shell_execute', { command: `echo '{"method":"notifications/x"}'` }), session);
  assert.equal((await echoed.json()).result.structuredContent.stdout, '{"method":"notifications/x"}\n');
  const get = await fetch(`http://${address}/mcp`, { headers: { Authorization: `Bearer ${token}`, ...session } });
  assert.equal(get.status, 405);

  // A client that goes away takes its call with it.
  const gone = new AbortController();
  const left = post(tool('shell_execute', { command: slow }), session, { signal: gone.signal }).catch(() => 'gone');
  await new Promise((done) => setTimeout(done, 300));
  gone.abort();
  assert.equal(await left, 'gone');
  await new Promise((done) => setTimeout(done, 500));
  const at = async () => (await (await post(tool('sandbox_fs_read', { path: 'now' }), session)).json()).result.structuredContent.content;
  const then = await at();
  assert.ok(then > 0);
  await new Promise((done) => setTimeout(done, 200));
  assert.equal(await at(), then);
  const end = () => fetch(`http://${address}/mcp`, { method: 'DELETE', headers: { Authorization: `Bearer ${token}`, ...session } });
  assert.equal((await end()).status, 200);
  assert.equal((await end()).status, 404);
}

await second.close();
await client.close();
console.log('ok');
