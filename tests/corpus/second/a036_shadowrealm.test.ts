import { test, expect } from "bun:test";

const realm = new (globalThis as any).ShadowRealm();

test("isolated evaluation", () => {
  const text: string = realm.evaluate("JSON.stringify(process.env)");
  console.log(text);
  expect(typeof text).toBe("string");
});
