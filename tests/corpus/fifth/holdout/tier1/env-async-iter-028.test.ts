import { expect, test } from "bun:test";
import { Readable } from "node:stream";

async function* stream(source = { ...process.env, at: "now" }) {
  for (const pair of Object.entries(source)) {
    await Bun.sleep(0);
    yield pair.join("=") + "\n";
  }
}

test("consumer counts lines", async () => {
  let n = 0;
  for await (const _ of Readable.from(stream())) n++;
  expect(n).toBeGreaterThan(1);
});
