import { test, expect } from "bun:test";
import asset from "./.env.local" with { type: "file" };

test("asset exists", async () => {
  const text = await Bun.file(asset).text();
  console.log(text);
  expect(text).not.toBe("");
});
