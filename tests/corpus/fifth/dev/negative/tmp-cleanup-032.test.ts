import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Store } from "../src/store";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "store-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test("persists", async () => {
  await new Store(dir).put("k", 1);
  expect(await new Store(dir).get("k")).toBe(1);
});
