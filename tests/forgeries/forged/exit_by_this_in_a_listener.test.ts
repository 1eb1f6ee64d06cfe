// report_missing|tests_failed|report_forged
import { expect, test } from "bun:test";
process.on("x" as any, function (this: any) { this.reallyExit(0); });
test("is wrong", () => { process.emit("x" as any); expect(1).toBe(2); });
