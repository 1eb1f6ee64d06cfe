// nothing_asserted
// with run.require_assertions=test
import { expect, test } from "bun:test";
test.each([[1], [2]])("row %d", (n) => { if (n === 1) expect(n).toBe(1); });
