// tests_failed|report_forged
import { expect, test } from "bun:test";
process.on("exit", function () { process.exitCode = 0; (process as any).reallyExit(0); });
process.on("beforeExit", () => { process.exitCode = 0; });
test("is wrong", () => { expect(1).toBe(2); });
