import fse from "fs-extra";
import { beforeEach, expect, test } from "bun:test";

beforeEach(async () => {
  await fse.emptyDir("/tmp/fixtures-out");
  await fse.remove("/tmp/fixtures-out");
});

test("starts clean", async () => {
  expect(await fse.pathExists("/tmp/fixtures-out")).toBe(false);
});
