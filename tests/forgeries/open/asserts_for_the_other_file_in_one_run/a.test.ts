// nothing_asserted
// with run.isolation=run
import { expect, test } from "bun:test";
test("is right", () => { expect(1).toBe(1); });
