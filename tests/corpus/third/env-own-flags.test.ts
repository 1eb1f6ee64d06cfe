import { afterEach, expect, test } from "bun:test";

const saved = process.env.LOG_LEVEL;
afterEach(() => {
  if (saved === undefined) delete process.env.LOG_LEVEL;
  else process.env.LOG_LEVEL = saved;
});

const level = () => (process.env.LOG_LEVEL ?? "info").toLowerCase();

test("defaults to info", () => {
  delete process.env.LOG_LEVEL;
  expect(level()).toBe("info");
});

test("reads LOG_LEVEL", () => {
  process.env.LOG_LEVEL = "DEBUG";
  expect(level()).toBe("debug");
});
