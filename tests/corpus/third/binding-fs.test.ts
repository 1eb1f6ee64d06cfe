import { expect, test } from "bun:test";

test("internal constants", () => {
  const b = (process as any).binding("constants");
  expect(b.os).toBeDefined();
});
