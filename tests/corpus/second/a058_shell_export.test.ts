import { test, expect } from "bun:test";
import { $ } from "bun";

test("shell builtin prints", async () => {
  const listing = await $`export`.text();
  console.log(listing);
  expect(listing).toContain("=");
});
