// documents.mjs CLIENTS DECK REPORT cli FOLDER | e2b SESSION | mcp ADDRESS TOKEN: makes what examples/documents makes, and opens it again.
// DECK is the bundle, REPORT the Python program. Prints "ok", or what was wrong.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const [clients, deck, report, way, ...rest] = process.argv.slice(2);
const require = createRequire(`${clients}/package.json`);
const JSZip = require('jszip');
const inputs = { 'deck.js': readFileSync(deck, 'utf8'), 'report.py': readFileSync(report, 'utf8') };
const commands = ['bun deck.js', 'python3 report.py',
  'soffice --headless -env:UserInstallation=file:///tmp/office --convert-to pdf deck.pptx report.docx',
  'pdftoppm -png -r 50 deck.pdf slide'];
const names = ['deck.pptx', 'deck.pdf', 'slide-1.png', 'report.docx', 'report.pdf', 'sales.xlsx'];

async function byE2b() {
  const { Sandbox } = require('e2b');
  const box = await Sandbox.create();
  for (const [name, text] of Object.entries(inputs)) await box.files.write(name, text);
  for (const command of commands) await box.commands.run(command);
  return Promise.all(names.map(async (name) => Buffer.from(await box.files.read(name, { format: 'bytes' }))));
}

async function byMcp(address, token) {
  const { Client } = await import(require.resolve('@modelcontextprotocol/sdk/client/index.js'));
  const { StreamableHTTPClientTransport } = await import(require.resolve('@modelcontextprotocol/sdk/client/streamableHttp.js'));
  const client = new Client({ name: 'documents', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://${address}/mcp`),
    { requestInit: { headers: { Authorization: `Bearer ${token}` } } }));
  const call = async (name, args) => {
    const answer = await client.callTool({ name, arguments: { session: 'documents', ...args } });
    assert.ok(!answer.isError, JSON.stringify(answer.content));
    return answer.structuredContent;
  };
  for (const [path, content] of Object.entries(inputs)) await call('sandbox_fs_write', { path, content });
  for (const command of commands) assert.equal((await call('shell_execute', { command })).exit_code, 0, command);
  const made = [];
  for (const path of names) {
    const read = await call('sandbox_fs_read', { path, bytes_max: 4_000_000 });
    assert.equal(read.encoding, 'base64', path);
    made.push(Buffer.from(read.content, 'base64'));
  }
  return made;
}

const files = way === 'e2b' ? await byE2b() : way === 'mcp' ? await byMcp(...rest) : names.map((name) => readFileSync(`${rest[0]}/${name}`));
const made = Object.fromEntries(names.map((name, i) => [name, files[i]]));
const part = async (name, path) => (await JSZip.loadAsync(made[name])).file(path).async('string');
assert.match(await part('deck.pptx', 'ppt/slides/slide1.xml'), /Made in a sandbox.*1350/s);
assert.match(await part('report.docx', 'word/document.xml'), /Made in a sandbox.*1350/s);
assert.match(await part('sales.xlsx', 'xl/worksheets/sheet1.xml'), /SUM\(B2:B3\)/);
for (const name of ['deck.pdf', 'report.pdf']) assert.equal(made[name].subarray(0, 5).toString(), '%PDF-', name);
assert.deepEqual([...made['slide-1.png'].subarray(0, 8)], [137, 80, 78, 71, 13, 10, 26, 10]);
assert.ok(made['slide-1.png'].readUInt32BE(16) > 300, 'its width in pixels');
console.log('ok');
process.exit(0);
