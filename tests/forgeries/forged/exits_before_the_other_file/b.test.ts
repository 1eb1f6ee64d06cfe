import { expect, test } from "bun:test";
await Bun.sleep(50);
test("is wrong", () => { expect(1).toBe(2); });
