import { execa } from "execa";
import { expect, test } from "bun:test";

test("build prints ok", async () => {
  const { stdout } = await execa("make", ["build"]);
  expect(stdout).toContain("ok");
});
