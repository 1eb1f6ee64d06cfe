// A registry of npm's with the two packages of guard, on this machine alone: node registry.mjs PACKAGES ELSEWHERE. Prints its address.
// Whatever else is asked for is at ELSEWHERE.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { execFileSync } from "node:child_process";

const [folder, elsewhere] = process.argv.slice(2);
const packages = new Map();
for (const file of readdirSync(folder).filter((name) => name.endsWith(".tgz"))) {
  const manifest = JSON.parse(execFileSync("tar", ["-xzOf", `${folder}/${file}`, "package/package.json"]));
  packages.set(manifest.name, { file, manifest, bytes: readFileSync(`${folder}/${file}`) });
}

const server = createServer((request, response) => {
  const [name, file] = decodeURIComponent(request.url).slice(1).split("/-/");
  const found = packages.get(name);
  if (!found) {
    response.writeHead(302, { location: elsewhere.replace(/\/$/, "") + request.url }).end();
  } else if (file) {
    response.end(found.bytes);
  } else {
    const { version } = found.manifest;
    const integrity = "sha512-" + createHash("sha512").update(found.bytes).digest("base64");
    const dist = { tarball: `http://${request.headers.host}/${name}/-/${found.file}`, integrity };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ name, "dist-tags": { latest: version }, versions: { [version]: { ...found.manifest, dist } } }));
  }
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
