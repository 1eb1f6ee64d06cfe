import { expect, test } from "bun:test";

test("semver", () => {
  expect(Bun.semver.satisfies("1.4.5", "^1.0.0")).toBe(true);
});
test("hash is stable", () => {
  expect(Bun.hash("a")).toBe(Bun.hash("a"));
  expect(new Bun.CryptoHasher("sha256").update("x").digest("hex")).toHaveLength(64);
});
test("glob and escape", () => {
  expect(new Bun.Glob("*.ts").match("a.ts")).toBe(true);
  expect(Bun.escapeHTML("<b>")).toBe("&lt;b&gt;");
  expect(Bun.deepEquals({ a: [1] }, { a: [1] })).toBe(true);
});
