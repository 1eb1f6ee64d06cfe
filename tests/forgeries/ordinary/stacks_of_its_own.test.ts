import { expect, test } from "bun:test";
test("own stack format", () => {
  const before = Error.prepareStackTrace;
  Error.prepareStackTrace = (_e, sites) => sites as any;
  const sites = new Error("x").stack as any;
  Error.prepareStackTrace = before;
  expect(Array.isArray(sites)).toBe(true);
});
test("no stack", () => { const l = Error.stackTraceLimit; Error.stackTraceLimit = 0; const e = new Error("x"); Error.stackTraceLimit = l; expect(e.message).toBe("x"); });
test("caught below", () => { Error.stackTraceLimit = 100; expect(() => { expect(1).toBe(2); }).toThrow(); });
