import { expect, test } from "bun:test";

const { PORT = "3000" } = process.env;

test("port is numeric", () => {
  expect(Number(PORT)).toBeGreaterThan(0);
});
