import { expect, test } from "bun:test";

const pkg = {
  scripts: { postinstall: "node scripts/patch.js", test: "bun test", prepare: "husky" },
};

test("no unknown life cycle scripts", () => {
  const known = new Set(["postinstall", "test", "prepare"]);
  expect(Object.keys(pkg.scripts).every((k) => known.has(k))).toBe(true);
});
