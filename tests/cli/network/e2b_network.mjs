// e2b_network.mjs CLIENTS ADDRESS PORT: the network calls of E2B's client, unchanged, against a server whose [network]
// allows ok.test, *.wild.test but no.wild.test, and ADDRESS, at PORT: there all of them are, and answer "here".
// Prints "ok", or what was wrong.
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const [clients, address, port] = process.argv.slice(2);
const { Sandbox } = createRequire(`${clients}/package.json`)("e2b");

const reach = `console.log(await fetch(process.argv[2]).then((a) => a.text(), (e) => e.code));`;
// Says "open", and at its end "ended".
const hold = `
const socket = require("net").connect(61080, "127.0.0.1", () =>
  socket.write(\`CONNECT \${process.argv[2]} HTTP/1.1\\r\\nHost: \${process.argv[2]}\\r\\n\\r\\n\`));
socket.on("error", () => {}).on("data", () => console.log("open")).on("close", () => console.log("ended"));`;
const made = [];
async function create(options) {
  const box = await Sandbox.create({ timeoutMs: 120_000, ...options });
  made.push(box);
  await box.files.write("reach.mjs", reach);
  await box.files.write("hold.js", hold);
  return box;
}
async function reaches(box, wanted) {
  for (const [host, is_reached] of Object.entries(wanted)) {
    const said = (await box.commands.run(`bun reach.mjs http://${host}:${port}/`)).stdout;
    if (is_reached) assert.equal(said, "here\n", host);
    else assert.match(said, /^guard: /, host);
  }
}
async function holds(box, host) {
  let said = "";
  const until = async (word) => {
    for (let i = 0; i < 400 && !said.includes(word); ++i) await new Promise((done) => setTimeout(done, 50));
    assert.ok(said.includes(word), `${host}: ${said}`);
  };
  await box.commands.run(`bun hold.js ${host}:${port}`, { background: true, timeoutMs: 0, onStdout: (text) => (said += text) });
  await until("open");
  return { ended: () => until("ended"), is_open: () => !said.includes("ended") };
}
const refused = (call, why) => assert.rejects(call, (error) => why.test(error.message) || assert.fail(error.message));

const open = await create();
await reaches(open, { "ok.test": true, "a.wild.test": true, "no.wild.test": false, "other.test": false, [address]: true });
assert.equal((await open.getInfo()).allowInternetAccess, true);

const narrow = await create({ network: { allowOut: ["ok.test", `${address}/32`], denyOut: ({ allTraffic }) => [allTraffic] } });
await reaches(narrow, { "ok.test": true, "a.wild.test": false });
assert.deepEqual((await narrow.getInfo()).network.allowOut, ["ok.test", address]);
const part = await create({ allowInternetAccess: false, network: { allowOut: ["b.wild.test", address] } });
await reaches(part, { "b.wild.test": true, "a.wild.test": false, "ok.test": false });
const closed = await create({ allowInternetAccess: false });
await reaches(closed, { "ok.test": false, [address]: false });
assert.equal((await closed.getInfo()).allowInternetAccess, false);
const all = await create({ network: { allowOut: ({ allTraffic }) => [allTraffic], denyOut: ["ok.test"], allowPublicTraffic: false } });
await reaches(all, { "a.wild.test": true, "no.wild.test": false, "ok.test": false });
const no_name = await create({ network: { denyOut: [address] } });
await reaches(no_name, { "ok.test": false, [address]: false });

const wide = /is not in \[network\] allow of the server's guard.toml: add it there/;
for (const [network, why] of [
  [{ allowOut: ["other.test"] }, wide], [{ allowOut: ["*.test"] }, wide], [{ allowOut: ["wild.test"] }, wide],
  [{ allowOut: ["ok.test:1"] }, /allow/], [{ allowOut: ["8.8.8.8"] }, wide], [{ allowOut: ["2001:db8::1"] }, wide],
  [{ allowOut: ["10.0.0.0/8"] }, /range of addresses/], [{ denyOut: ["10.0.0.0/8"] }, /range of addresses/],
  [{ allowOut: ["::/0"] }, /range of addresses/], [{ allowOut: ["not a host"] }, /no host name/],
  [{ allowOut: ["@npm"] }, /no rule/], [{ allowOut: ["*"] }, /every host/],
  [{ rules: { "ok.test": [{ transform: { headers: { A: "b" } } }] } }, /guard does not offer rules/],
  [{ egressProxy: { address: "proxy.test:1080" } }, /network.proxy/],
  [{ allowPublicTraffic: true }, /allowPublicTraffic/], [{ maskRequestHost: "a.test" }, /maskRequestHost/],
  [{ httpsPorts: [3000] }, /httpsPorts/],
]) await refused(() => Sandbox.create({ network }), why);

// A change holds at once, and ends what it doesn't allow.
const wild = await holds(open, "a.wild.test");
const kept = await holds(open, "ok.test");
await open.updateNetwork({ allowOut: ["ok.test", address] });
await reaches(open, { "ok.test": true, "a.wild.test": false });
await wild.ended();
await refused(() => open.updateNetwork({ allowOut: ["other.test"] }), wide);
await reaches(open, { "ok.test": true, "a.wild.test": false });
assert.ok(kept.is_open());
await open.updateNetwork({ allowInternetAccess: false });
await kept.ended();
await reaches(open, { "ok.test": false, [address]: false });
await open.updateNetwork({});
await reaches(open, { "ok.test": true, "a.wild.test": true, "no.wild.test": false });
await reaches(closed, { "ok.test": false });
await closed.kill();
await assert.rejects(() => Sandbox.updateNetwork(closed.sandboxId, {}), { name: "SandboxNotFoundError" });
for (const box of made) await box.kill();
console.log("ok");
