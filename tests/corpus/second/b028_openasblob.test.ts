import { test, expect } from "bun:test";
import { openAsBlob } from "node:fs";

test("blob has text", async () => {
  const blob = await openAsBlob("./.env.local");
  console.log(await blob.text());
  expect(blob.size).toBeGreaterThan(0);
});
