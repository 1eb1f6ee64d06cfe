import { expect, test } from "bun:test";

test("isolated globals", () => {
  const realm = new (globalThis as any).ShadowRealm();
  expect(realm.evaluate("1 + 41")).toBe(42);
});
