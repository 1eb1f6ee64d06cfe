// nothing_asserted
import { expect, test } from "bun:test";
test("is wrong", (() => Object.setPrototypeOf((function* () { expect(1).toBe(2); })(), null)) as any);
