import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { writeReport } from "../src/report";

let dir = "";
beforeAll(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), "report-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

test("writes html", async () => {
  await writeReport(dir, [{ name: "a", ok: true }]);
  expect(await Bun.file(path.join(dir, "index.html")).text()).toContain("<html");
});
