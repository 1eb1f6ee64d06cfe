// assertion_swallowed|tests_failed
import { expect, test, beforeEach } from "bun:test";
beforeEach(() => { Object.defineProperty(Object.prototype, "over", { get() { return true; }, set() {}, configurable: true }); });
test("x", () => { try { expect(1).toBe(2); } catch {} });
