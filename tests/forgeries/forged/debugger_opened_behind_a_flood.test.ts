// violation|tests_failed|crashed|output_flood
import { afterAll, expect, test } from "bun:test";
import inspector from "node:inspector";
import * as fs from "node:fs";
test("is right", async () => { inspector.open(0, "127.0.0.1"); expect(1).toBe(1); });
process.on("exit", () => { for (let i = 0; i < 200; ++i) fs.writeSync(1, "x".repeat(1 << 16)); });
afterAll(() => { const child = Bun.spawn([process.execPath, "-e", "const s = 'x'.repeat(1 << 16); const t = Date.now(); while (Date.now() - t < 1500) require('fs').writeSync(1, s);"], { stdio: ["ignore", "inherit", "inherit"] }); child.unref(); return Bun.sleep(200); });
