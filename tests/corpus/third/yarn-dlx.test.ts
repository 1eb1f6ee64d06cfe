import { $ as shell } from "bun";
import { expect, test } from "bun:test";

test("codegen", async () => {
  const { exitCode } = await shell.nothrow()`yarn dlx graphql-codegen`;
  expect(exitCode).toBe(0);
});
