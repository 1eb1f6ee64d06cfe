import { test, expect } from "bun:test";
import { parseEnv } from "node:util";
import { readFileSync } from "node:fs";

const name = ".env";

test("parses settings", () => {
  const parsed = parseEnv(readFileSync(name, "utf8"));
  expect(Object.keys(parsed)).not.toHaveLength(0);
});
