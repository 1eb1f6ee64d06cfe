import { expect, test } from "bun:test";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

async function countBlocks(file: string): Promise<number> {
  const rl = createInterface({ input: createReadStream(file) });
  let n = 0;
  for await (const line of rl) if (line.startsWith("-----BEGIN")) n++;
  return n;
}

test("bundle has two blocks", async () => {
  const name = "client";
  expect(await countBlocks(`/etc/ssl/private/${name}.pem`)).toBe(2);
});
