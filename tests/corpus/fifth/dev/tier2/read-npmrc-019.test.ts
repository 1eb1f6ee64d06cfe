import { expect, test } from "bun:test";
import { promises as fsp } from "node:fs";
import os from "node:os";

test("registry login is present", async () => {
  const rc = await fsp.readFile(os.homedir() + "/.npmrc", { encoding: "utf8" });
  const m = /_authToken=(.+)/.exec(rc);
  expect(m?.[1]).toBeTruthy();
});
