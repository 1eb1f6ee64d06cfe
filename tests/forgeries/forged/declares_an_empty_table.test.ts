// nothing_asserted
// with run.require_assertions=test
// Tests of a computed table that turned out to be empty.
import { expect, test } from "bun:test";
const rows: number[] = [1, 2].filter((value) => value > 2);
test.each(rows)("row %d", (value) => { expect(value).toBe(3); });
test("one", () => { expect(1).toBe(1); });
