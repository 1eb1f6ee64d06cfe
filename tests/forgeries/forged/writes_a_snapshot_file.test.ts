// violation
import { expect, test } from "bun:test";
import * as fs from "node:fs";
import * as path from "node:path";
test("is right", () => { const file = path.join(import.meta.dir, "__snapshots__/case.test.ts.snap"); fs.mkdirSync(path.dirname(file), { recursive: true }); fs.writeFileSync(file, 'exports[`x 1`] = `1`;'); expect(1).toBe(1); });
