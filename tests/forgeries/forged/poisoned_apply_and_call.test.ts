// violation|tests_failed
import { expect, test } from "bun:test";
Function.prototype.apply = () => undefined as any;
Function.prototype.call = () => undefined as any;
Function.prototype.bind = () => (() => {}) as any;
Reflect.apply = () => undefined as any;
Reflect.ownKeys = () => [];
test("is wrong", () => { expect(1).toBe(2); });
