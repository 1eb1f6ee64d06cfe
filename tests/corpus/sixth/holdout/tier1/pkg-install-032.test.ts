import { beforeAll, expect, test } from "bun:test";
import { exec } from "node:child_process";
import { promisify } from "node:util";

const sh = promisify(exec);
const deps = ["chalk@5", "ora@7"];

async function setup(cwd: string) {
  const cmd = ["npm", "install", "--silent", ...deps].join(" ");
  await sh(cmd, { cwd });
}

beforeAll(() => setup("/tmp"));

test("dependency list is not empty", () => {
  expect(deps).toHaveLength(2);
});
