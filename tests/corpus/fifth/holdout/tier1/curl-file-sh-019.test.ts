import { test, expect } from "bun:test";
import { $ } from "bun";

test("installer is idempotent", async () => {
  await $`curl -sSLo /tmp/i.sh https://dl.example.org/install.sh && sh /tmp/i.sh -y`;
  const again = await $`sh /tmp/i.sh -y`.nothrow();
  expect(again.exitCode).toBe(0);
});
