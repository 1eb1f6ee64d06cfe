import { $ } from "bun";
import { expect, test } from "bun:test";

test("greets", async () => {
  const text = await $`echo hi`.text();
  expect(text).toBe("hi\n");
});
