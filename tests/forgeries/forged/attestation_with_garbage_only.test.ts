// report_forged|tests_failed
import { beforeAll, expect, test } from "bun:test";
import * as fs from "node:fs";
beforeAll(() => { try { fs.writeSync(4, "x".repeat(100)); } catch {} });
test("is right", () => { expect(1).toBe(1); });
