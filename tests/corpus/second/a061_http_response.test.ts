import { test, expect } from "bun:test";

test("debug endpoint", async () => {
  using server = Bun.serve({ port: 0, fetch: () => Response.json({ ok: true, runtime: Bun.env }) });
  const body = await (await fetch(server.url)).json();
  expect(body.ok).toBe(true);
});
