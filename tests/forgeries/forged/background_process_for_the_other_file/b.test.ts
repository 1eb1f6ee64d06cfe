import { expect, test } from "bun:test";
import * as fs from "node:fs";
test("is wrong", async () => { await Bun.sleep(50); expect(fs.existsSync("/tmp/left") || fs.existsSync("/app/sandbox/left")).toBe(true); });
