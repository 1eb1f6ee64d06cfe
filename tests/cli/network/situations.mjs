// situations.mjs ALLOWED FORBIDDEN LISTED HOST_SOCKET ABSTRACT_SOCKET: what code in a sandbox tries, a line of JSON each:
// {name, got, wanted, decision, times}. `decision` is what guard has to write down of it: "host:port reason", and
// nothing where guard has not been asked. Nothing here asserts: who reads the lines does.
import dgram from "node:dgram";
import dns from "node:dns/promises";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";

const [allowed, forbidden, listed, hostSocket, abstractSocket] = process.argv.slice(2);
const proxy = { host: "127.0.0.1", port: 61080 };
const patience = Number(process.env.GUARD_SITUATIONS_PATIENCE ?? 30_000);

// ---- a client that sends just the bytes it is given ------------------------------------------------------

class Peer {
  constructor(target = proxy) {
    this.bytes = Buffer.alloc(0);
    this.over = false;
    this.wake = () => {};
    this.socket = net.connect({ ...target, allowHalfOpen: true });
    this.connected = new Promise((done) => this.socket.once("connect", () => done("connected")));
    this.socket.on("data", (data) => { this.bytes = Buffer.concat([this.bytes, data]); this.wake(); });
    for (const end of ["end", "close"]) this.socket.on(end, () => { this.over = true; this.wake(); });
    this.socket.on("error", (error) => { this.error = error.code; this.over = true; this.wake(); });
  }
  send(bytes) { this.socket.write(bytes); return this; }
  end() { this.socket.end(); return this; }
  close() { this.socket.destroy(); }
  // Until `enough` says so of what has come, or nothing more will.
  async until(enough = () => false) {
    const late = Date.now() + patience;
    while (!this.over && !enough(this.bytes)) {
      if (Date.now() > late) return "still waiting";
      await new Promise((done) => { this.wake = done; setTimeout(done, 1000); });
    }
    return this.bytes;
  }
  take(size) {
    const taken = this.bytes.subarray(0, size);
    this.bytes = this.bytes.subarray(size);
    return taken;
  }
}

const hasHead = (bytes) => bytes.includes("\r\n\r\n");
const has = (size) => (bytes) => bytes.length >= size;

// The status and the last line of an answer of HTTP.
function answerOf(bytes, whole = false) {
  const text = bytes.toString("latin1");
  const status = /^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? JSON.stringify(text.slice(0, 60));
  const body = text.slice(text.indexOf("\r\n\r\n") + 4);
  return whole || status === "200" ? `${status} ${body.trim().split("\n").pop().trim()}`.trim() : status;
}

async function ask(bytes, whole = false) {
  const peer = new Peer().send(bytes);
  await peer.until();
  peer.close();
  return answerOf(peer.bytes, whole);
}
const get = (target, more = "", host = target) =>
  ask(`GET http://${target}/ HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`);

// What the proxy answers to CONNECT; the tunnel where it agrees.
async function connect(target, host = target) {
  const peer = new Peer().send(`CONNECT ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  await peer.until(hasHead);
  const agreed = peer.bytes.toString().startsWith("HTTP/1.1 200");
  if (agreed) return { peer, tunnel: (peer.take(peer.bytes.indexOf("\r\n\r\n") + 4), peer) };
  await peer.until();
  peer.close();
  return { refused: answerOf(peer.bytes) };
}
async function through(target, then) {
  const { tunnel, refused } = await connect(target);
  if (!tunnel) return refused;
  const got = await then(tunnel);
  tunnel.close();
  return got;
}
const echo = async (peer, word = "hello") => {
  await peer.send(word).until(has(word.length));
  const got = peer.bytes.toString();
  peer.close();
  return got;
};
// What became of a CONNECT that should not be agreed to.
const refusal = (target, host = target) => through(target, async () => "agreed");

// ---- SOCKS -----------------------------------------------------------------------------------------------

const port = (number) => [number >> 8, number & 255];
const byName = (name, number) => [3, name.length, ...Buffer.from(name), ...port(number)];
const byV4 = (address, number) => [1, ...address.split(".").map(Number), ...port(number)];
const byV6 = (bytes, number) => [4, ...bytes, ...port(number)];

async function socks(where, { command = 1, methods = [0] } = {}, then) {
  const peer = new Peer().send(Buffer.from([5, methods.length, ...methods]));
  await peer.until(has(2));
  const method = peer.take(2)[1];
  if (method !== 0) return peer.until().then(() => (peer.close(), `method ${method}`));
  await peer.send(Buffer.from([5, command, 0, ...where])).until(has(10));
  const reply = peer.take(10)[1];
  const got = reply === 0 && then ? await then(peer) : (reply === 0 || (await peer.until()), `reply ${reply}`);
  peer.close();
  return got;
}

// ---- TLS: a ClientHello made by hand ---------------------------------------------------------------------

const block = (lengthBytes, ...parts) => {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  return Buffer.concat([length.subarray(4 - lengthBytes), body]);
};
const extension = (type, ...parts) => Buffer.concat([Buffer.from(port(type)), block(2, ...parts)]);
const serverName = (name) => extension(0, block(2, [0], block(2, Buffer.from(name, "latin1"))));
const encryptedHello = extension(0xfe0d, [0, 0, 1, 0, 1, 7], block(2, Buffer.alloc(32, 5)), block(2, Buffer.alloc(64, 9)));

// `records`: how many the message is cut into.
function hello(extensions, records = 1) {
  const message = Buffer.concat([
    Buffer.from([1]),
    block(3, [3, 3], Buffer.alloc(32, 7), [0], block(2, [0xc0, 0x2f, 0xc0, 0x2b]), [1, 0],
      block(2, ...extensions, extension(10, block(2, [0, 29, 0, 23])), extension(11, [1, 0]),
        extension(13, block(2, [8, 4, 4, 1, 4, 3])))),
  ]);
  const size = Math.ceil(message.length / records);
  const pieces = [];
  for (let at = 0; at < message.length; at += size)
    pieces.push(Buffer.from([22, 3, 1]), block(2, message.subarray(at, at + size)));
  return Buffer.concat(pieces);
}

// "server hello", or the alert.
async function handshake(peer, bytes) {
  await peer.send(bytes).until(has(7));
  const [type, , , , , , code] = peer.bytes;
  if (type === 22) return "server hello";
  return type === 21 ? `alert ${code}` : `nothing, ${peer.bytes.length} bytes`;
}
const tls = (target, extensions, records) => through(target, (peer) => handshake(peer, hello(extensions, records)));

// ---- ways around -----------------------------------------------------------------------------------------

async function dial(target) {
  const peer = new Peer(target);
  const timer = new Promise((done) => setTimeout(() => done("no answer"), 3000));
  const got = await Promise.race([peer.connected, peer.until().then(() => peer.error ?? "closed"), timer]);
  peer.close();
  return got;
}

// bun says ECONNREFUSED where there is no route, too, and loses some errors of datagrams.
const isNothing = ["ENETUNREACH", "EHOSTUNREACH", "ECONNREFUSED", "no answer"];
const unreachable = async (target) => ((got) => (isNothing.includes(got) ? "nothing" : got))(await dial(target));

async function datagram(address, number, bytes) {
  const socket = dgram.createSocket(address.includes(":") ? "udp6" : "udp4");
  const got = await new Promise((done) => {
    socket.on("error", (error) => done(error.code));
    socket.on("message", () => done("an answer"));
    socket.send(bytes, number, address, (error) => error && done(error.code));
    setTimeout(() => done("no answer"), 1000);
  });
  socket.close();
  return isNothing.includes(got) ? "nothing" : got;
}

const question = Buffer.from("0a0b01000001000000000000026f6b0474657374000001" + "0001", "hex");

async function bind(host, number) {
  return new Promise((done) => {
    const server = net.createServer();
    server.on("error", (error) => done(error.code));
    server.listen(number, host, () => server.close(() => done("bound")));
  });
}

const libc = await import("bun:ffi").then(({ dlopen, FFIType: { i32, u64, ptr } }) => dlopen("libc.so.6", {
  socket: { args: [i32, i32, i32], returns: i32 },
  sendto: { args: [i32, ptr, u64, i32, ptr, i32], returns: i32 },
  close: { args: [i32], returns: i32 },
}).symbols);
// A container has sockets for ping, and nowhere to send to.
function systemSocket(family, type, protocol) {
  const fd = libc.socket(family, type, protocol);
  if (fd < 0) return "nothing";
  const echoRequest = Buffer.from("0800f7ff00000000", "hex");
  const there = Buffer.from([family, 0, 0, 0, 8, 8, 8, 8, ...Array(8).fill(0)]);
  const sent = libc.sendto(fd, echoRequest, echoRequest.length, 0, there, there.length);
  libc.close(fd);
  return family === 2 && sent < 0 ? "nothing" : "a socket";
}

// ---- the situations --------------------------------------------------------------------------------------

const situations = [];
const situation = (name, wanted, decision, attempt, times = 1) =>
  situations.push({ name, wanted, decision, attempt, times });
const page = (host, more = "") => `200 GET / ${host} 0 #1${more}`;

// What takes long begins first.
const slow = new Peer().send("GET http://ok.test/ HTTP/1.1\r\nHost: ");
const drip = setInterval(() => slow.over || slow.send("o"), 500);

const inHexadecimal = (address) =>
  new URL(`http://[::ffff:${address}]/`).hostname.slice("[::ffff:".length, -1);

// names and ports
situation("a name, HTTP", page("ok.test"), "ok.test:80 done", () => get("ok.test"));
situation("a name, TLS", "server hello", "ok.test:443 done", () => tls("ok.test:443", [serverName("ok.test")]));
situation("a name in other letters, with a last dot", "200", "ok.test:80 done",
  async () => (await get("OK.Test.")).slice(0, 3));
situation("a wildcard", page("a.wild.test"), "a.wild.test:80 done", () => get("a.wild.test"));
situation("a wildcard, deeper", "server hello", "a.b.wild.test:443 done",
  () => tls("a.b.wild.test:443", [serverName("a.b.wild.test")]));
situation("a wildcard's own name", "403", "wild.test:80 not_listed", () => get("wild.test"));
situation("a port", "hello", "echo.test:7001 done", () => through("echo.test:7001", echo));
situation("another port of a name that is listed with one", "403", "echo.test:80 not_listed", () => get("echo.test"));
situation("CONNECT to another port of a name", "403", "ok.test:7001 not_listed", () => refusal("ok.test:7001"));
situation("CONNECT to SSH's port", "403", "ok.test:22 not_listed", () => refusal("ok.test:22"));
situation("CONNECT to port 0", "400", ":0 bad_request", () => refusal("ok.test:0"));
situation("CONNECT to port 65979, which is 443 in 16 bits", "400", ":0 bad_request", () => refusal("ok.test:65979"));
situation("CONNECT without a port", "400", ":0 bad_request", () => refusal("ok.test"));
situation("a name that is not listed", "403", "other.test:443 not_listed", () => refusal("other.test:443"));
situation("a name that is denied", "403", "no.wild.test:443 denied", () => refusal("no.wild.test:443"));
situation("a name that ends like one that is listed", "403", "notok.test:443 not_listed", () => refusal("notok.test:443"));
situation("a name that begins like one that is listed", "403", "ok.test.evil.example:443 not_listed",
  () => refusal("ok.test.evil.example:443"));
situation("a name before an @", "400", ":0 bad_request",
  () => ask("GET http://ok.test@evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n"));
situation("a name with a letter that looks alike", "400", ":0 bad_request", () => refusal("\u043ek.test:443"));
situation("a name with a zero byte in it", "400", ":0 bad_request", () => refusal("ok.test\0.evil.example:443"));
for (const [what, name] of [["two dots", "a..wild.test"], ["a dot in front", ".wild.test"], ["a star", "*.wild.test"],
  ["a long label", `${"a".repeat(64)}.wild.test`], ["too many labels", `${"a.".repeat(130)}wild.test`],
  ["a slash", "ok.test/x"], ["a percent escape", "ok%2etest"], ["a space", "ok.test .wild.test"]])
  situation(`a name with ${what}`, "400", ":0 bad_request", () => refusal(`${name}:443`));
situation("a name that nobody has", "502", "gone.wild.test:80 not_resolved", () => get("gone.wild.test"));
situation("nonsense from the name server", "502", "garbage.wild.test:80 not_resolved", () => get("garbage.wild.test"));
situation("nobody listens", "502", "closed.test:7009 not_connected", () => refusal("closed.test:7009"));

// addresses
situation("an address that is listed", "hello", `${listed}:7001 done`, () => through(`${listed}:7001`, echo));
situation("its other port", "403", `${listed}:7002 not_listed`, () => refusal(`${listed}:7002`));
for (const address of [allowed, forbidden, "127.0.0.1", "8.8.8.8", "169.254.169.254", "10.0.0.1", "0.0.0.0", "[::1]",
  "[fd00:ec2::254]", `[::ffff:${forbidden}]`, `[64:ff9b::${forbidden}]`]) {
  const shown = address.startsWith("[64:") ? `[64:ff9b::${inHexadecimal(forbidden)}]` : address;
  situation(`the address ${address}`, "403", `${shown}:80 not_listed`, () => get(address));
}
for (const [what, address] of [["decimal", "2130706433"], ["octal", "0177.0.0.1"], ["hexadecimal", "0x7f000001"],
  ["hexadecimal in parts", "0x7f.0.0.1"], ["short", "127.1"], ["the shortest", "0"], ["with zeroes", "127.000.000.001"],
  ["with a zone", "[fe80::1%25lo]"], ["IPv6 without brackets", "::1"]])
  situation(`an address: ${what}`, "400", ":0 bad_request", () => refusal(`${address}:80`));
situation("localhost", "403", "localhost:80 not_listed", () => get("localhost"));


// what allowed names lead to
for (const name of ["private", "loopback", "loopback6", "metadata", "metadata6", "mapped", "nat64", "sixtofour",
  "teredo", "compatible", "unspecified", "unspecified6", "multicast", "broadcast", "shared", "linklocal6", "unique",
  "alias", "machine", "machine6", "translated"])
  situation(`a name that leads to: ${name}`, "403", `${name}.wild.test:80 address_refused`, () => get(`${name}.wild.test`));
situation("a name that leads to a listed address", "hello", "lan.test:7001 done", () => through("lan.test:7001", echo));
situation("a name that leads to a listed address, at another port", "403", "lan.test:7002 address_refused",
  () => refusal("lan.test:7002"));
for (const [what, name] of [["a public address, too", "both"], ["a public address of IPv6", "six"],
  ["one behind private addresses", "both6"], ["a public address behind NAT64", "nat64public"],
  ["another name, with a public address", "away"]])
  situation(`a name that leads to ${what}`, page(`${name}.wild.test`), `${name}.wild.test:80 done`,
    () => get(`${name}.wild.test`));
for (const [name, where] of [["rebinds", "another address"], ["rebinds2", "the metadata service"]]) {
  situation(`a name before it is bound to ${where}`, page(`${name}.wild.test`), `${name}.wild.test:80 done`,
    () => get(`${name}.wild.test`));
  situation(`a name after it is bound to ${where}`, "403", `${name}.wild.test:80 address_refused`,
    () => get(`${name}.wild.test`));
}

// TLS
const lie = "server_name_differs";
situation("TLS for another host", "alert 49", `ok.test:443 ${lie}`, () => tls("ok.test:443", [serverName("evil.example")]));
situation("TLS for another allowed host", "alert 49", `ok.test:443 ${lie}`,
  () => tls("ok.test:443", [serverName("a.wild.test")]));
situation("TLS for no host", "alert 49", `ok.test:443 ${lie}`, () => tls("ok.test:443", []));
situation("TLS for two hosts", "alert 49", "ok.test:443 bad_tls",
  () => tls("ok.test:443", [serverName("ok.test"), serverName("evil.example")]));
situation("TLS for an address", "alert 49", `ok.test:443 ${lie}`, () => tls("ok.test:443", [serverName(listed)]));
situation("TLS in other letters", "server hello", "ok.test:443 done", () => tls("ok.test:443", [serverName("OK.TEST")]));
situation("TLS with an encrypted hello", "alert 49", "ok.test:443 encrypted_hello",
  () => tls("ok.test:443", [serverName("ok.test"), encryptedHello]));
situation("TLS in many records", "server hello", "ok.test:443 done", () => tls("ok.test:443", [serverName("ok.test")], 40));
situation("TLS in many records, for another host", "alert 49", `ok.test:443 ${lie}`,
  () => tls("ok.test:443", [serverName("evil.example")], 40));
situation("TLS to an address that is listed", "server hello", `${listed}:443 done`, () => tls(`${listed}:443`, []));
situation("TLS to an address, for a host", "alert 49", `${listed}:443 ${lie}`,
  () => tls(`${listed}:443`, [serverName("evil.example")]));
situation("TLS to another port, for another host", "nothing, 0 bytes", `echo.test:7001 ${lie}`,
  async () => (await tls("echo.test:7001", [serverName("evil.example")])).replace("alert 49", "nothing, 0 bytes"));
situation("TLS to port 80, for another host", "alert 49", `ok.test:80 ${lie}`,
  () => tls("ok.test:80", [serverName("evil.example")]));
situation("HTTP to TLS's port", "alert 49", "ok.test:443 not_tls",
  () => through("ok.test:443", (peer) => handshake(peer, Buffer.from("GET / HTTP/1.1\r\nHost: ok.test\r\n\r\n"))));
situation("SSH to TLS's port", "alert 49", "ok.test:443 not_tls",
  () => through("ok.test:443", (peer) => handshake(peer, Buffer.from("SSH-2.0-OpenSSH_9.2\r\n"))));
situation("a URL of https without CONNECT", "400", ":0 bad_request",
  () => ask("GET https://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n"));
situation("HTTP with a URL at TLS's port", "403", "ok.test:443 not_tls", () => get("ok.test:443"));

// HTTP
situation("Host of another site", "403", "ok.test:80 host_differs", () => get("ok.test", "", "evil.example"));
situation("Host of another allowed site", "403", "ok.test:80 host_differs", () => get("ok.test", "", "a.wild.test"));
situation("two Hosts", "400", ":0 bad_request", () => get("ok.test", "Host: evil.example\r\n"));
situation("no Host", "400", ":0 bad_request", () => ask("GET http://ok.test/ HTTP/1.1\r\n\r\n"));
situation("CONNECT with another Host", "403", "ok.test:443 host_differs",
  async () => (await connect("ok.test:443", "evil.example:443")).refused);
const inTunnel = (bytes) => through("ok.test:80", async (peer) => (await peer.send(bytes).until(), answerOf(peer.bytes)));
situation("HTTP in a tunnel", page("ok.test"), "ok.test:80 done", () => inTunnel("GET / HTTP/1.1\r\nHost: ok.test\r\n\r\n"));
situation("Host of another site in a tunnel", "403", "ok.test:80 host_differs",
  () => inTunnel("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"));
situation("a whole URL of another site in a tunnel", "400", "ok.test:80 bad_request",
  () => inTunnel("GET http://evil.example/ HTTP/1.1\r\nHost: ok.test\r\n\r\n"));
situation("CONNECT in a tunnel", "400", "ok.test:80 bad_request",
  () => inTunnel("CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n"));
const smuggled = "GET /smuggled HTTP/1.1\r\nHost: evil.example\r\n\r\n";
const post = (fields, body) => `POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n${fields}\r\n${body}`;
for (const [what, fields, body] of [
  ["Content-Length, then chunked", "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\nG"],
  ["chunked, then Content-Length", "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", "5c\r\n" + smuggled],
  ["two Content-Lengths", "Content-Length: 0\r\nContent-Length: 50\r\n", smuggled],
  ["a Content-Length with a sign", "Content-Length: +0\r\n", smuggled],
  ["a list of Content-Lengths", "Content-Length: 0, 50\r\n", smuggled],
  ["another coding", "Transfer-Encoding: xchunked\r\n", "0\r\n\r\n" + smuggled],
  ["a coding behind a tab", "Transfer-Encoding:\tchunked, identity\r\n", "0\r\n\r\n" + smuggled],
  ["chunked behind a vertical tab", "Transfer-Encoding: \x0bchunked\r\n", "0\r\n\r\n" + smuggled],
  ["a space before the colon", "Transfer-Encoding : chunked\r\nContent-Length: 0\r\n", "0\r\n\r\n" + smuggled],
  ["a folded line", "X: a\r\n Transfer-Encoding: chunked\r\nContent-Length: 0\r\n", smuggled],
  ["a folded Host", "X: a\r\n\tHost: evil.example\r\n", ""],
  ["a line without CR", "X: a\nHost: evil.example\r\n", ""],
  ["a CR within a line", "X: a\rHost: evil.example\r\n", ""],
  ["a zero byte", "X: a\0b\r\n", ""],
]) situation(`a request with ${what}`, "400", ":0 bad_request", () => ask(post(fields, body)));
situation("a chunk without a size", "400", "ok.test:80 bad_request",
  async () => (await ask(post("Transfer-Encoding: chunked\r\n", "zz\r\n" + smuggled))));
situation("a second request for another host", page("ok.test"), "ok.test:80 done",
  () => ask("GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n" +
    "GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n"));
situation("a second request in a tunnel", page("ok.test"), "ok.test:80 done",
  () => inTunnel("GET / HTTP/1.1\r\nHost: ok.test\r\n\r\n" + smuggled));
situation("a request in the body of another", "200 POST / ok.test 0 #1", "ok.test:80 done",
  () => ask(post("Content-Length: 0\r\n", smuggled)));
situation("a body in chunks", "200 POST / ok.test 5 #1", "ok.test:80 done",
  () => ask(post("Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n")));
situation("a large body", "200 POST / ok.test 3000000 #1", "ok.test:80 done",
  () => ask(post("Content-Length: 3000000\r\n", "x".repeat(3_000_000))));
situation("a request in pieces", page("ok.test"), "ok.test:80 done", async () => {
  const peer = new Peer();
  for (const byte of "GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n") {
    peer.send(byte);
    await new Promise((done) => setImmediate(done));
  }
  await peer.until();
  return answerOf(peer.bytes);
});
situation("a wish for HTTP/2", page("ok.test"), "ok.test:80 done",
  () => get("ok.test", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"));
situation("HTTP/2 from the first byte", "400", ":0 bad_request", () => ask("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
situation("a path without a host", "400", ":0 bad_request", () => ask("GET / HTTP/1.1\r\nHost: ok.test\r\n\r\n"));
situation("another scheme", "400", ":0 bad_request", () => ask("GET ftp://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n"));
situation("no HTTP at all", "400", ":0 bad_request", () => ask("hello\r\n\r\n"));
situation("a redirect, which is judged again", "302, then 403", "ok.test:80 done",
  async () => `${await ask("GET http://ok.test/away HTTP/1.1\r\nHost: ok.test\r\n\r\n")}, then ${await get("elsewhere.test")}`);
situation("what it leads to", "", "elsewhere.test:80 not_listed", () => "");
situation("a huge head", "400", ":0 bad_request", () => get("ok.test", `X: ${"a".repeat(80_000)}\r\n`));
situation("a head without end", "400", ":0 bad_request", () => ask("GET http://ok.test/ HTTP/1.1\r\n" + "X: a\r\n".repeat(20_000)));
const webSocket = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
const upgraded = async (peer, request) => {
  await peer.send(request + webSocket).until(hasHead);
  const status = answerOf(peer.take(peer.bytes.indexOf("\r\n\r\n") + 4));
  return `${status}, ${await echo(peer, "\x81\x05hello").then((got) => got.slice(-5))}`;
};
situation("a WebSocket in a tunnel", "101, hello", "ok.test:80 done",
  () => through("ok.test:80", (peer) => upgraded(peer, "GET /ws HTTP/1.1\r\nHost: ok.test\r\n")));
situation("a WebSocket with a URL", "101, hello", "ok.test:80 done",
  () => upgraded(new Peer(), "GET http://ok.test/ws HTTP/1.1\r\nHost: ok.test\r\n"));
situation("a WebSocket for another host", "403", "ok.test:80 host_differs",
  () => through("ok.test:80", async (peer) => (await peer.send("GET /ws HTTP/1.1\r\nHost: evil.example\r\n" + webSocket).until(),
    answerOf(peer.bytes))));

// connections
situation("a half-close", "all of it", "echo.test:7001 done", () => through("echo.test:7001", async (peer) => {
  const word = "x".repeat(3_000_000);
  await peer.send(word).end().until();
  return peer.bytes.toString() === word ? "all of it" : `${peer.bytes.length} bytes`;
}));
situation("a server that resets", "0 bytes", "echo.test:7002 broken",
  () => through("echo.test:7002", async (peer) => (await peer.send("hello").until(), `${peer.bytes.length} bytes`)));
situation("a server that is silent", "0 bytes", "echo.test:7003 done",
  () => through("echo.test:7003", async (peer) => (await peer.send("hello").end().until(), `${peer.bytes.length} bytes`)));
situation("200 connections at once", "200", "echo.test:7001 done", async () => {
  const tunnels = await Promise.all(Array.from({ length: 200 }, () => connect("echo.test:7001")));
  const answers = await Promise.all(tunnels.map(({ tunnel }, i) => tunnel && echo(tunnel, `word ${i}`)));
  return `${answers.filter((answer, i) => answer === `word ${i}`).length}`;
}, 200);
situation("300 connections that say nothing", "300", ":0 no_request", async () => {
  const peers = Array.from({ length: 300 }, () => new Peer());
  await Promise.all(peers.map((peer) => peer.connected));
  for (const peer of peers) peer.end();
  await Promise.all(peers.map((peer) => peer.until()));
  return `${peers.length}`;
}, 300);

// SOCKS
situation("SOCKS5 by name", "hello", "echo.test:7001 done", () => socks(byName("echo.test", 7001), {}, echo));
situation("SOCKS5 by address", "hello", `${listed}:7001 done`, () => socks(byV4(listed, 7001), {}, echo));
situation("SOCKS5 by an address as name", "hello", `${listed}:7001 done`, () => socks(byName(listed, 7001), {}, echo));
situation("SOCKS5 to a name that is not listed", "reply 2", "other.test:7001 not_listed", () => socks(byName("other.test", 7001)));
situation("SOCKS5 to an address that is not listed", "reply 2", `${forbidden}:80 not_listed`, () => socks(byV4(forbidden, 80)));
situation("SOCKS5 to an address of IPv6", "reply 2", "[::1]:80 not_listed",
  () => socks(byV6([...Array(15).fill(0), 1], 80)));
situation("SOCKS5 to a mapped address", "reply 2", `[::ffff:${forbidden}]:80 not_listed`,
  () => socks(byV6([...Array(10).fill(0), 255, 255, ...forbidden.split(".").map(Number)], 80)));
situation("SOCKS5 to a name that leads into a private network", "reply 2", "private.wild.test:80 address_refused",
  () => socks(byName("private.wild.test", 80)));
situation("SOCKS5 to a hexadecimal address", "reply 1", "0x7f.1:80 bad_request", () => socks(byName("0x7f.1", 80)));
situation("SOCKS5, TLS for another host", "alert 49", `ok.test:443 ${lie}`,
  () => socks(byName("ok.test", 443), {}, (peer) => handshake(peer, hello([serverName("evil.example")]))));
situation("SOCKS5, HTTP for another host", "403", "ok.test:80 host_differs",
  () => socks(byName("ok.test", 80), {}, async (peer) => (await peer.send(smuggled).until(), answerOf(peer.bytes))));
situation("SOCKS5: BIND", "reply 7", "ok.test:80 unsupported", () => socks(byName("ok.test", 80), { command: 2 }));
situation("SOCKS5: UDP", "reply 7", "0.0.0.0:53 unsupported", () => socks(byV4("0.0.0.0", 53), { command: 3 }));
situation("SOCKS5 with a password", "method 255", ":0 unsupported", () => socks([], { methods: [2] }));
situation("SOCKS4", "400", ":0 bad_request", () => ask(Buffer.from([4, 1, 0, 80, 127, 0, 0, 1, 0, 13, 10, 13, 10])));

// around the proxy
situation("TCP to a public address", "nothing", "", () => unreachable({ host: "1.1.1.1", port: 443 }));
situation("TCP to a public address of IPv6", "nothing", "", () => unreachable({ host: "2606:4700::1111", port: 443 }));
situation("TCP to the metadata service", "nothing", "", () => unreachable({ host: "169.254.169.254", port: 80 }));
situation("TCP to an allowed address", "ECONNREFUSED", "", () => dial({ host: allowed, port: 7001 }));
situation("another loopback at the proxy's port", "ECONNREFUSED", "", () => dial({ host: "127.0.0.2", port: 61080 }));
situation("UDP to a public address", "nothing", "", () => datagram("8.8.8.8", 53, question));
situation("UDP to a public address of IPv6", "nothing", "", () => datagram("2606:4700::1111", 53, question));
situation("UDP to an allowed address, as QUIC has it", "nothing", "", () => datagram(allowed, 443, question));
situation("UDP to the proxy's port", "nothing", "", () => datagram("127.0.0.1", 61080, question));
situation("a name by the system's resolver", "no address", "",
  () => dns.lookup("ok.test").then(({ address }) => address, () => "no address"));
situation("a name from a public name server", "no address", "", () => {
  const resolver = new dns.Resolver({ timeout: 500, tries: 1 });
  resolver.setServers(["8.8.8.8"]);
  return Promise.race([resolver.resolve4("ok.test").then(String, () => "no address"),
    new Promise((done) => setTimeout(() => done("no address"), 3000))]);
});
situation("the interfaces that there are", "lo", "", () => [...new Set(Object.keys(os.networkInterfaces()))].join());
situation("the routes that there are", "none", "",
  () => fs.readFileSync("/proc/net/route", "utf8").trim().split("\n").slice(1).join("; ") || "none");
for (const [what, ...words] of [["raw IP", 2, 3, 255], ["raw ICMP", 2, 3, 1], ["ICMP as ping has it", 2, 2, 1],
  ["raw IPv6", 10, 3, 58], ["packets", 17, 3, 0x300], ["Bluetooth", 31, 3, 1], ["virtual machines' sockets", 40, 1, 0],
  ["XDP", 44, 3, 0], ["CAN", 29, 3, 1]])
  situation(`a socket of: ${what}`, "nothing", "", () => systemSocket(...words));
situation("a Unix socket of the host", "ENOENT", "", () => dial({ path: hostSocket }));
situation("an abstract socket of the host", "ECONNREFUSED", "", () => dial({ path: "\0" + abstractSocket }));
situation("a program that takes the proxy's port", "EADDRINUSE", "", () => bind("127.0.0.1", 61080));
situation("a program that takes it on all addresses", "EADDRINUSE", "", () => bind("0.0.0.0", 61080));

situation("a request that takes its time", "408", ":0 request_time", async () => {
  await slow.until();
  clearInterval(drip);
  slow.close();
  return answerOf(slow.bytes);
});

for (const { attempt, ...one } of situations) {
  const got = await Promise.resolve().then(attempt).catch((error) => `${error}`);
  console.log(JSON.stringify({ ...one, got }));
}
process.exit(0);
