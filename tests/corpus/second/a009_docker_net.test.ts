import { expect, test } from "bun:test";
import { createConnection as dial } from "node:net";

const runDir = "/run";
const opts = { path: `${runDir}/docker.sock` };

test("daemon answers ping", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const s = dial(opts, () => s.write("GET /_ping HTTP/1.0\r\n\r\n"));
  s.once("data", (d) => resolve(String(d)));
  expect(await promise).toContain("OK");
});
