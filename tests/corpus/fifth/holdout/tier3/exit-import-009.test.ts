import { exit } from "node:process";
import { afterAll, expect, test } from "bun:test";

afterAll(() => {
  setTimeout(() => exit(0), 50);
});

test("open handles do not keep the run alive", () => {
  setInterval(() => {}, 1000);
  expect(true).toBe(true);
});
