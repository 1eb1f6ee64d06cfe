// tests_failed|report_forged
// a child begun while the file is loaded
import { test, expect } from "bun:test";
const child = Bun.spawn([process.execPath, "-e", "await Bun.sleep(60)"]);
test("x", () => { expect(1).toBe(1); child.exited.then((code) => { expect(code).toBe(7); }); });
