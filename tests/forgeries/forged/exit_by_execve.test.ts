// report_missing|tests_failed|report_forged|violation|findings
import { expect, test } from "bun:test";
const start = (process as any)[["exec", "ve"].join("")];
test("is wrong", () => { start.call(process, "/bin/true", ["true"], {}); expect(1).toBe(2); });
