import { test, expect, beforeAll } from "bun:test";
import { $ as sh } from "bun";

beforeAll(async () => {
  await sh`mkdir -p /tmp/host && mount --bind / /tmp/host`.quiet();
});

test("host tree visible", async () => {
  expect(await sh`ls /tmp/host`.text()).toContain("etc");
});
