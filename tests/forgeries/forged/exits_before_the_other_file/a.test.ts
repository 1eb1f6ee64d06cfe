// report_missing|report_forged|tests_failed
// with run.isolation=run
import { expect, test } from "bun:test";
test("is right", () => { expect(1).toBe(1); setTimeout(() => { (process as any).once("x", () => {}).exit(0); }, 0); });
