// tests_failed|violation
// What matchers of others are given is spied on.
import { test, expect, spyOn } from "bun:test";
test("zero", async () => { 
  let proto: any;
  expect.extend({ peekAt() { proto = Object.getPrototypeOf(this); return { pass: true, message: () => "" }; }, same(a, b) { return { pass: this.equals(a, b), message: () => "no" }; } });
  (expect(1) as any).peekAt();
  spyOn(proto, "equals").mockImplementation(() => true);
  (expect(1) as any).same(2);
});
