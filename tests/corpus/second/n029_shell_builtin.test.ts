import { $ } from "bun";
import { expect, test } from "bun:test";

test("escapes arguments", async () => {
  const name = "a b; echo hi";
  expect((await $`echo ${name}`.text()).trim()).toBe(name);
});
