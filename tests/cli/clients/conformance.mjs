// conformance.mjs CLIENTS ADDRESS TOKEN SCENARIO...: @modelcontextprotocol/conformance for servers, which has no way to be told a
// token: it speaks through this process. Prints what failed, then "ok" if nothing did.
import { spawn } from 'node:child_process';
import http from 'node:http';

const [clients, address, token, ...scenarios] = process.argv.slice(2);
const [host, port] = address.split(':');
const relay = http.createServer((asked, answered) => {
  const headers = { ...asked.headers, host: address, authorization: `Bearer ${token}` };
  const next = http.request({ host, port, path: asked.url, method: asked.method, headers }, (answer) => {
    answered.writeHead(answer.statusCode, answer.headers);
    answer.pipe(answered);
  });
  next.on('error', () => answered.destroy());
  asked.pipe(next);
});
await new Promise((ready) => relay.listen(0, '127.0.0.1', ready));

let failed = false;
for (const scenario of scenarios) {
  const program = `${clients}/node_modules/@modelcontextprotocol/conformance/dist/index.js`;
  const url = `http://127.0.0.1:${relay.address().port}/mcp`;
  let said = '';
  const run = spawn(process.execPath, [program, 'server', '--url', url, '--scenario', scenario]);
  for (const stream of [run.stdout, run.stderr]) stream.on('data', (bytes) => (said += bytes));
  const status = await new Promise((done) => run.on('close', done));
  if (status === 0 && !said.includes(' 0 failed')) console.log(said);
  failed ||= status !== 0 || !said.includes(' 0 failed');
  if (status !== 0) console.log(said);
}
relay.close();
if (!failed) console.log('ok');
process.exit(failed ? 1 : 0);
