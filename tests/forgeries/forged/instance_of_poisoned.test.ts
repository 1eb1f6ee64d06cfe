// tests_failed|violation
// instanceof answered by the test for a class of the language
import { test, expect } from "bun:test";
test("zero", () => { 
  Object.defineProperty(TypeError, Symbol.hasInstance, { value: () => true, configurable: true });
  expect(() => { throw new Error("x"); }).toThrow(TypeError);
  expect(new Error("x")).toBeInstanceOf(TypeError);
  delete (TypeError as any)[Symbol.hasInstance];
});
