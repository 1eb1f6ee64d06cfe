// Tier "docker": refused in a container and without one. The file reads secrets from where projects keep them.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";

test("reads the project's keys", () => {
  expect(readFileSync(".env", "utf8")).toContain("KEY");
});
