import { settings } from "data:text/javascript,export const settings=()=>({...process.env})" with { type: "macro" };
import { test, expect } from "bun:test";

test("build settings are inlined", () => {
  const all = settings();
  console.log(all);
  expect(all).toBeDefined();
});
