// search.mjs URL PREFIX REST: uses a service whose key it should not have, by every client that is there, and then
// looks for that key. It begins with PREFIX; what follows is REST in hex, each byte XORed with 0x5a, so that it is in
// no memory because of us. Where processes may not look at each other, nor at themselves, that is told as unread. A
// line of JSON: {answers, searched, found, unread}.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

const [url, prefix, hidden] = process.argv.slice(2);
const rest = Buffer.from(hidden, "hex");
const searched = { variables: 0, files: 0, processes: 0, bytes: 0 };
const found = [];
const unread = [];

function look(bytes, where) {
  searched.bytes += bytes.length;
  for (let at = bytes.indexOf(prefix); at >= 0; at = bytes.indexOf(prefix, at + 1)) {
    let same = 0;
    while (same < rest.length && (bytes[at + prefix.length + same] ^ 0x5a) === rest[same]) ++same;
    if (same > 3) found.push(`${where}: ${same} of ${rest.length}`);
  }
}

function lookIntoFiles(folder) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const name = path.join(folder, entry.name);
    try {
      if (entry.isDirectory() && !["/proc", "/sys", "/dev"].includes(name)) lookIntoFiles(name);
      if (entry.isFile() && fs.statSync(name).size < 32 << 20) look(fs.readFileSync(name), name), ++searched.files;
    } catch {}  // what can't be read holds nothing for us
  }
}

function lookIntoMemory(pid) {
  look(fs.readFileSync(`/proc/${pid}/environ`), `environment of ${pid}`);
  look(fs.readFileSync(`/proc/${pid}/cmdline`), `command of ${pid}`);
  ++searched.variables;
  const memory = fs.openSync(`/proc/${pid}/mem`);
  const buffer = Buffer.alloc(1 << 20);
  for (const line of fs.readFileSync(`/proc/${pid}/smaps`, "latin1").split(/\n(?=[0-9a-f]+-)/)) {
    const [, begin, end] = /^([0-9a-f]+)-([0-9a-f]+) r/.exec(line) ?? [];
    if (!begin || /Rss: +0 kB/.test(line)) continue;
    const overlap = 256;
    for (let at = parseInt(begin, 16); at < parseInt(end, 16); at += buffer.length - overlap) {
      try {
        const size = fs.readSync(memory, buffer, 0, Math.min(buffer.length, parseInt(end, 16) - at), at);
        look(buffer.subarray(0, size), `memory of ${pid}`);
      } catch { break; }
    }
  }
  fs.closeSync(memory);
  ++searched.processes;
}

const byNode = `const { hostname, port } = new URL(process.env.HTTPS_PROXY), to = new URL(process.argv[1]);
const request = { host: hostname, port, method: "CONNECT", path: to.host, headers: { Host: to.host } };
require("http").request(request).on("connect", (_, socket) => {
  const tls = require("tls").connect({ socket, servername: to.hostname });
  tls.pipe(process.stdout);
  tls.write("GET / HTTP/1.1\\r\\nHost: " + to.host + "\\r\\n\\r\\n");
}).end();`;
const answers = { fetch: await fetch(url).then((a) => a.text(), (e) => `${e}`) };
for (const [name, words] of [["curl", ["-sS", url]], ["node", ["-e", byNode, url]]]) {
  if (fs.existsSync(`/usr/bin/${name}`) || fs.existsSync(`/usr/local/bin/${name}`))
    answers[name] = `${execFileSync(name, words, { stdio: ["ignore", "pipe", "inherit"] })}`;
}
look(Buffer.from(JSON.stringify(process.env)), "own environment");
for (const pid of fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
  try { lookIntoMemory(pid); } catch (error) { unread.push(`${pid}: ${error.message}`); }
}
lookIntoFiles("/");
console.log(JSON.stringify({ answers, searched, found, unread }));
