// prometheus.mjs CONFIGURATION: a real Prometheus with it, until it knows what guard serve says. Prints "ok", or what was wrong.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';

const port = 40_000 + (process.pid % 10_000);
const storage = fs.mkdtempSync(`${process.env.TMPDIR ?? '/tmp'}/guard-prometheus-`);
const server = spawn('/usr/bin/prometheus', [`--config.file=${process.argv[2]}`, `--storage.tsdb.path=${storage}`,
  `--web.listen-address=127.0.0.1:${port}`], { stdio: 'ignore' });
const ask = async (path) => (await (await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)).json()).data;
const value = async (expression) => (await ask(`query?query=${encodeURIComponent(expression)}`)).result[0]?.value[1];
try {
  let up;
  for (let i = 0; i < 150 && up !== '1'; ++i) {
    await new Promise((done) => setTimeout(done, 200));
    up = await value('up{job="guard"}').catch(() => undefined);
  }
  assert.equal(up, '1');
  assert.ok(Number(await value('sum(guard_pool_sandboxes)')) >= 0);
  const alerts = (await ask('rules')).groups[0].rules;
  assert.ok(alerts.length > 3 && alerts.every((rule) => rule.health !== 'err'));
  console.log('ok');
} finally {
  server.kill('SIGKILL');
  fs.rmSync(storage, { recursive: true, force: true });
}
