const { test, expect } = require("bun:test");
require("dotenv").config();

test("port is set", () => {
  expect(Number(process.env.PORT)).toBeGreaterThan(0);
});
