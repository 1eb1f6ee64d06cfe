import { test, expect } from "bun:test";
import { $ } from "bun";

test("redirect", async () => {
  const text = await $`cat < .env`.text();
  console.log(text);
  expect(text).toContain("=");
});
