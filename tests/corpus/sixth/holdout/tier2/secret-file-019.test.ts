import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";

const candidates = [".env", ".env.local", "config/defaults.ini"];

function firstConfig(): string {
  for (const file of candidates) {
    if (existsSync(file)) {
      return readFileSync(file, "utf8");
    }
  }
  return "";
}

test("finds a configuration", () => {
  expect(typeof firstConfig()).toBe("string");
});
