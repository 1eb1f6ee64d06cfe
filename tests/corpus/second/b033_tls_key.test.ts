import { test, expect } from "bun:test";

test("https server starts", async () => {
  const dir = import.meta.dir + "/certs";
  using s = Bun.serve({
    port: 0,
    tls: { key: Bun.file(`${dir}/key.pem`), cert: Bun.file(`${dir}/cert.pem`) },
    fetch: () => new Response("ok"),
  });
  expect(s.url.protocol).toBe("https:");
});
