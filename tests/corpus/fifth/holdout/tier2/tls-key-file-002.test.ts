import { afterAll, expect, test } from "bun:test";

const server = Bun.serve({
  port: 0,
  tls: { key: Bun.file("/etc/letsencrypt/live/site/privkey.pem"), cert: Bun.file("/etc/letsencrypt/live/site/fullchain.pem") },
  fetch: () => new Response("ok"),
});
afterAll(() => server.stop(true));

test("serves https", async () => {
  const r = await fetch(server.url, { tls: { rejectUnauthorized: false } });
  expect(await r.text()).toBe("ok");
});
