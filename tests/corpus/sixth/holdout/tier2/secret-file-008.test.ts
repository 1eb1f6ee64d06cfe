import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";

let server: ReturnType<typeof Bun.serve>;

beforeAll(() => {
  server = Bun.serve({
    port: 0,
    tls: {
      key: readFileSync("certs/server-key.pem"),
      cert: readFileSync("certs/server.pem"),
    },
    fetch: () => new Response("ok"),
  });
});
afterAll(() => server?.stop(true));

test("serves over tls", () => {
  expect(server.port).toBeGreaterThan(0);
});
