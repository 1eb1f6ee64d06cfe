// tests_failed|violation
// What matchers of others are given is defined anew.
import { test, expect } from "bun:test";
test("zero", async () => { 
  let proto: any;
  expect.extend({ peekAt() { proto = Object.getPrototypeOf(this); return { pass: true, message: () => "" }; }, same(a, b) { return { pass: this.equals(a, b), message: () => "no" }; } });
  (expect(1) as any).peekAt();
  try { Object.defineProperty(proto, "equals", { value: () => true }); } catch (e) { console.log(e); }
  (expect(1) as any).same(2);
});
