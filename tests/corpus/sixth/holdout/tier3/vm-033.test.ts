import { expect, test } from "bun:test";
import { Script as Program } from "vm";

const programs = new Map<string, Program>();

function programFor(code: string) {
  let p = programs.get(code);
  if (!p) programs.set(code, (p = new Program(code)));
  return p;
}

test("programs are cached and run", () => {
  expect(programFor("1 + 1")).toBe(programFor("1 + 1"));
  expect(programFor("3 ** 2").runInThisContext()).toBe(9);
});
