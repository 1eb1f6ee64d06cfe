// flaky|violation|tests_failed
import { expect, test } from "bun:test";
let n = 0;
for (const key of ["retry", "repeats", "timeout", "todo", "failing", "skip"]) Object.defineProperty(Object.prototype, key, { get: () => (key === "retry" ? 50 : undefined), set() {}, configurable: true });
let tried = 0;
test("passes at last", () => { expect(++tried).toBeGreaterThan(30); }, { retry: 0 });
