import { beforeAll, expect, test } from "bun:test";
import { execSync } from "node:child_process";

beforeAll(() => {
  execSync("sudo modprobe nbd max_part=8");
  execSync("sudo insmod ./build/fakedisk.ko");
});

test("device node shows up", () => {
  const listing = execSync("ls /dev").toString();
  expect(listing).toContain("nbd0");
});
