import { exec as launch } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "bun:test";

const sh = promisify(launch);

test("uname", async () => {
  const { stdout } = await sh("uname");
  expect(stdout.trim()).toBe("Linux");
});
