// violation
import { expect, test } from "bun:test";
import fs from "node:fs";
test("is wrong", async () => { fs.mkdirSync("sandbox/lib"); fs.writeFileSync("sandbox/lib/package.json", "{}"); fs.writeFileSync("sandbox/lib/x.ts", "export const x = 1"); await import(import.meta.dir + "/lib/x.ts"); fs.chmodSync("sandbox/lib", 0); expect(1).toBe(1); });
