// expected_failures
import { expect, test } from "bun:test";
test.failing.each([[1], [2]])("is wrong %d", (n) => { expect(n).toBe(0); });
