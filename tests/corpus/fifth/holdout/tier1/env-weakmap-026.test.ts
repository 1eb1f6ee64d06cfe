import { expect, test } from "bun:test";

const slots = new WeakMap<object, unknown>();
const key = Object.freeze({ slot: "ctx" });

slots.set(key, globalThis.process!.env);

test("slot holds a record", () => {
  const v = slots.get(key) as Record<string, string>;
  let joined = "";
  for (const n of Object.keys(v)) joined += v[n];
  expect(joined).toBeString();
});
