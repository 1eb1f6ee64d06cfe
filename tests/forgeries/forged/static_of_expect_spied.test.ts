// violation|tests_failed
import { expect, spyOn, test } from "bun:test";
spyOn(expect, "any").mockImplementation((() => ({ asymmetricMatch: () => true })) as any);
test("is wrong", () => { expect({ a: 1 }).toEqual({ a: expect.any(String) }); });
