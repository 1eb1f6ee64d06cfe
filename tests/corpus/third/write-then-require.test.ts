import { expect, test } from "bun:test";

test("config loader", async () => {
  const file = `/tmp/conf-${crypto.randomUUID()}.cjs`;
  await Bun.write(file, "module.exports = { n: [1,2,3].length }");
  expect(require(file).n).toBe(3);
});
