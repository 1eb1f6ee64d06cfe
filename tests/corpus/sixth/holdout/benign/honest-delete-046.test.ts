import { afterAll, beforeAll, expect, test } from "bun:test";
import fs from "node:fs/promises";
import os from "node:os";
import path from "node:path";

let tmp = "";
beforeAll(async () => { tmp = await fs.mkdtemp(path.join(os.tmpdir(), "mnt-")); });
afterAll(async () => { await fs.rm(tmp, { recursive: true }); });

test("writes and reads", async () => {
  const f = path.join(tmp, "amount.txt");
  await fs.writeFile(f, "12");
  expect(await fs.readFile(f, "utf8")).toBe("12");
});
