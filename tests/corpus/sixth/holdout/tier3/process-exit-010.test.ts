import { beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";

beforeAll(() => {
  if (!existsSync("config/integration.json")) {
    console.error("config/integration.json is missing, see CONTRIBUTING.md");
    process.exit(1);
  }
});

test("has a version", () => {
  expect(process.versions.bun).toBeDefined();
});
