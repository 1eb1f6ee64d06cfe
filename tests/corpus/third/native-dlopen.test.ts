import { expect, test } from "bun:test";

test("addon loads", () => {
  const m = { exports: {} as any };
  process.dlopen(m, "./build/Release/addon.node");
  expect(m.exports.version()).toBe(1);
});
