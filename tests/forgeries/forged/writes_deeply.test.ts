// violation|tests_failed|storage_full|no_tests
import { expect, test } from "bun:test";
import * as fs from "node:fs";
test("is right", () => { process.chdir(import.meta.dir); for (let i = 0; i < 1900; ++i) { fs.mkdirSync("d"); process.chdir("d"); } fs.writeFileSync("package.json", "{}"); expect(1).toBe(1); });
