import { expect, test } from "bun:test";

const guard = (body: string) => `if (process.env.NODE_ENV !== "production") {\n  ${body}\n}`;

test("wraps in a development guard", () => {
  expect(guard("check();")).toContain('process.env.NODE_ENV !== "production"');
});
