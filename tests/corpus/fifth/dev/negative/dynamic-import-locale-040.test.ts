import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";

const dir = join(import.meta.dir, "../src/locales");

test.each(readdirSync(dir).map((f) => [f]))("%s has all keys", async (file) => {
  const { default: messages } = await import(`../src/locales/${file}`);
  const { default: base } = await import("../src/locales/en");
  expect(Object.keys(messages).sort()).toEqual(Object.keys(base).sort());
});
