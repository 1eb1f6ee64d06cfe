// violation|tests_failed
import { expect, spyOn, test } from "bun:test";
WeakMap.prototype.get = () => undefined;
WeakMap.prototype.has = () => false;
WeakSet.prototype.has = () => false;
WeakSet.prototype.add = function () { return this; };
spyOn(Object.getPrototypeOf(expect(0)), "toBe").mockImplementation((() => {}) as any);
test("is wrong", () => { expect(1).toBe(2); });
