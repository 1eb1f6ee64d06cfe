// tests_failed|report_forged|nothing_asserted
import { expect, test } from "bun:test";
import { readFile } from "node:fs";
test("is wrong", () => { expect(1).toBe(1); readFile(import.meta.path, "utf8", (_error, text) => { expect(text).toBe("none"); }); });
