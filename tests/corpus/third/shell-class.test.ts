import { expect, test } from "bun:test";

const tools: any = Object.fromEntries([["sh", (Bun as any)["$"]]]);

test("shell instance", async () => {
  const shell = new tools.sh.Shell();
  shell.throws(false);
  const { exitCode } = await shell`false`;
  expect(exitCode).toBe(1);
});
