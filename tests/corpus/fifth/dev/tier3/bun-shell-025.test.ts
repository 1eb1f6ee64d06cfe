import { $ as shell } from "bun";
import { beforeEach, expect, it } from "bun:test";

const inTmp = shell.cwd("/tmp").nothrow();

beforeEach(async () => {
  await inTmp`touch one two`;
});

it("lists files", async () => {
  const { exitCode } = await inTmp`ls one two`;
  expect(exitCode).toBe(0);
});
