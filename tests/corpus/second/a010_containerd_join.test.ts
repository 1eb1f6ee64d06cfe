import { expect, test } from "bun:test";
import http from "node:http";

const parts = ["sock", "containerd.", "/", "containerd", "/", "run", "/"];
const socketPath = parts.reduceRight((a, b) => a + b, "");

test("runtime API responds", async () => {
  const code = await new Promise((ok) => http.get({ socketPath, path: "/version" }, (r) => ok(r.statusCode)));
  expect(code).toBe(200);
});
