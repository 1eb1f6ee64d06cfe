// clients.mjs CLIENTS GUARD PROJECT ADDRESS TOKEN [CONTAINER]: what `true` costs, in milliseconds (median, 99 %): as a
// bare process, by `docker exec` in CONTAINER, by `guard mcp` and by E2B's SDK at the `guard serve` of ADDRESS, each in
// a sandbox that is there already. In turns, so that a busy moment of the machine is everybody's.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [clients, guard, project, address, token, container] = process.argv.slice(2);
const require = createRequire(`${clients}/package.json`);
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js');
process.env.E2B_API_URL = process.env.E2B_SANDBOX_URL = `http://${address}`;
process.env.E2B_API_KEY = token;
const { Sandbox } = require('e2b');

const ended = (words) => new Promise((done) => spawn(words[0], words.slice(1), { stdio: 'ignore' }).on('close', done));
const client = new Client({ name: 'bench', version: '1' });
await client.connect(new StdioClientTransport({ command: guard, args: ['mcp'], cwd: project, env: process.env }));
const box = await Sandbox.create();
const ways = {
  'bare process': () => ended(['/bin/sh', '-c', 'true']),
  'guard mcp, shell_execute': () => client.callTool({ name: 'shell_execute', arguments: { command: 'true' } }),
  "E2B's SDK, commands.run": () => box.commands.run('true'),
};
if (container) ways['docker exec'] = () => ended(['docker', 'exec', container, '/bin/sh', '-c', 'true']);

const times = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
for (let round = 0; round < 220; ++round) {
  for (const [name, call] of Object.entries(ways)) {
    const begun = performance.now();
    await call();
    if (round >= 20) times[name].push(performance.now() - begun);
  }
}
for (const [name, all] of Object.entries(times)) {
  all.sort((one, other) => one - other);
  console.log(name.padEnd(26), all[100].toFixed(2), all[197].toFixed(2));
}
await box.kill();
await client.close();
