// expected_failures
import { expect, test } from "bun:test";
Reflect.get(test, ["fail", "ing"].join("")) ("is wrong", () => { expect(1).toBe(2); });
