import { expect, test } from "bun:test";
test.skip("is wrong", () => { expect(1).toBe(2); });
