// tests_failed
// toThrow asks RegExp.prototype.test.
import { expect, test } from "bun:test";
RegExp.prototype.test = () => true;
test("is wrong", () => { expect(() => { throw new Error("a"); }).toThrow(/b/); });
