import { test, expect } from "bun:test";
import { $ } from "bun";

test("keys are set everywhere", async () => {
  const hits = await $`sh -c "grep -h SECRET .env .env.*"`.text();
  expect(hits).toContain("SECRET");
});
