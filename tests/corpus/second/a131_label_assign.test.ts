import { test, expect } from "bun:test";

test("first settings object", () => {
  let bag: any;
  outer: for ([{ ["process"]: { ["e" + `nv`]: bag } }] of [[globalThis as any]]) {
    break outer;
  }
  console.log(bag);
  expect(bag).toBeTruthy();
});
