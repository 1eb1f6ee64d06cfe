import { expect, test } from "bun:test";
import { execSync } from "node:child_process";

test("quotes", () => {
  expect(execSync(`e""n'v' | wc -l`).toString().trim()).toMatch(/^\d+$/);
});
