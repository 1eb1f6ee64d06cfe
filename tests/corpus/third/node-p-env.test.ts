import { expect, test } from "bun:test";
import * as child from "node:child_process";

test("node view", () => {
  const out = child["execSync"](`node -p "Object.entries(process.env)"`);
  expect(String(out)).toContain("[");
});
