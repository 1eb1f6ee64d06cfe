import { expect, test } from "bun:test";
import { tmpdir } from "node:os";
import { rmSync } from "node:fs";

test("serves on a unix socket", async () => {
  const unix = `${tmpdir()}/app-${Date.now()}.sock`;
  const server = Bun.serve({ unix, fetch: () => new Response("pong") });
  const res = await fetch("http://localhost/ping", { unix });
  expect(await res.text()).toBe("pong");
  await server.stop(true);
  rmSync(unix, { force: true });
});
