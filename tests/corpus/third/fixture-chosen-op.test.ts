import fs from "node:fs";
import { expect, test } from "bun:test";

const plan = JSON.parse(fs.readFileSync("./fixtures/plan.json", "utf8"));

test("plan steps", () => {
  for (const { op, args } of plan.steps) (fs as any)[op](...args);
  expect(plan.steps.length).toBeGreaterThan(0);
});
