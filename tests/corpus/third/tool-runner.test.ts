import { $ } from "bun";
import { expect, test } from "bun:test";

const sh = $;

test("linter passes", async () => {
  const r = await sh`bunx some-linter@latest --quiet .`.nothrow();
  expect(r.exitCode).toBe(0);
});
