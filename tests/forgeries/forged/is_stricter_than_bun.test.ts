// tests_failed
// A matcher of a name that bun has: bun alone asks the test's.
import { expect, test } from "bun:test";
expect.extend({ toBeEven(n: number) { return { pass: n % 2 === 0 && n > 10, message: () => `${n} is no even number above 10` }; } });
test("is wrong", () => { expect(2).toBeEven(); });
