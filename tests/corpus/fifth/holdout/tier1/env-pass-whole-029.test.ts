import { expect, test } from "bun:test";
import { deserialize, serialize } from "node:v8";

const clone = <T,>(v: T): T => deserialize(serialize(v));

test("clone keeps every key", () => {
  const src = (process!.env)! satisfies NodeJS.ProcessEnv;
  expect(Object.keys(clone({ ...src }))).toEqual(Object.keys(src));
});
