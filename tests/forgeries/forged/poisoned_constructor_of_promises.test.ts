// nothing_asserted|violation|tests_failed|report_forged
import { expect, test } from "bun:test";
const real = Promise;
Object.defineProperty(Promise.prototype, "constructor", { get() { throw new Error("none"); } });
test("is wrong", () => { expect(1).toBe(1); return expect(real.resolve(1)).resolves.toBe(2); });
