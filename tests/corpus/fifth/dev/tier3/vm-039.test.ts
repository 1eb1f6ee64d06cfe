import { expect, test } from "bun:test";

const mods = { v: "vm", p: "path" };
const bring = async (k: keyof typeof mods) => import("node:".concat(mods[k]));

test("script returns the last value", async () => {
  const { Script } = await bring("v");
  expect(new Script("var a = 20; a + 1").runInThisContext()).toBe(21);
});
