// tests_failed|violation
// toThrow(Class) compares messages where the class has one
import { test, expect } from "bun:test";
test("zero", () => { 
  (Function.prototype as any).message = "x";
  expect(() => { throw new Error("x"); }).toThrow(TypeError);
  delete (Function.prototype as any).message;
});
