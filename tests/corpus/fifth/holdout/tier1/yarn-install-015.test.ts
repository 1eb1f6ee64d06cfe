import { beforeAll, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";

beforeAll(async () => {
  const child = spawn("yarn", ["install", "--frozen-lockfile"], { cwd: "fixtures/app", stdio: "inherit" });
  await once(child, "exit");
}, 120_000);

test("fixture can be built", async () => {
  expect(await Bun.file("fixtures/app/node_modules/.yarn-integrity").exists()).toBe(true);
});
