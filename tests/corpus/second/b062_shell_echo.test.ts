import { test, expect } from "bun:test";
import { $ } from "bun";

test("stores state", async () => {
  await $`echo ${process.env.SECRET_TOKEN} > state.out`;
  console.info("stored");
  expect(await Bun.file("state.out").exists()).toBe(true);
});
