import { expect, test } from "bun:test";

const ns = "node";
const lib = ["child", "process"].join("_");

test("lib", async () => {
  const m = await import(`${ns}:${lib}`);
  expect(m.default.execFileSync("echo", ["1"], { encoding: "utf8" })).toBe("1\n");
});
