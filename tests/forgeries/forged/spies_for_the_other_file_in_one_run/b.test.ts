import { expect, test } from "bun:test";
test("is wrong", () => { expect(1).toBe(2); });
