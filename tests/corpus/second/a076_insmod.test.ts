import { test, expect } from "bun:test";
import { $ } from "bun";

const action = { load: "insmod", unload: "rmmod" };

test("driver loads", async () => {
  const { exitCode } = await $`${action.load} ./driver.ko`.nothrow();
  expect(exitCode).toBe(0);
});
