import { expect, test } from "bun:test";
import { Emitter, isPlainObject } from "../src/util";

test("isPlainObject", () => {
  expect(isPlainObject({})).toBe(true);
  expect(isPlainObject(new Date())).toBe(false);
  expect(new Emitter().constructor.name).toBe("Emitter");
  expect({}.constructor).toBe(Object);
});

test("on returns a disposer", () => {
  const off: Function = new Emitter().on("x", () => {});
  expect(off).toEqual(expect.any(Function));
  expect(off instanceof Function).toBe(true);
});
