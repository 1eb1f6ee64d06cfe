// tests_failed|report_forged|nothing_asserted
import { expect, test } from "bun:test";
test("is wrong", () => { expect(1).toBe(1); Bun.spawn([process.execPath, "-e", "0"]).exited.then((code) => { expect(code).toBe(7); }); });
