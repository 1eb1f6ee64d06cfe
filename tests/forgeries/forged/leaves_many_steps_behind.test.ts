// tests_failed|report_forged|nothing_asserted
import { expect, test } from "bun:test";
import { readFile, readdir } from "node:fs/promises";
test("is wrong", () => { expect(1).toBe(1); (async () => { for (let i = 0; i < 30; ++i) await readdir("/usr"); expect(1).toBe(2); })(); });
