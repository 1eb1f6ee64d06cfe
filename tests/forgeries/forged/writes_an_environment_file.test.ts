// violation
import { expect, test } from "bun:test";
import * as fs from "node:fs";
import * as path from "node:path";
test("is right", () => { const file = path.join(import.meta.dir, ".env.test"); fs.mkdirSync(path.dirname(file), { recursive: true }); fs.writeFileSync(file, 'A=1'); expect(1).toBe(1); });
