import { afterEach, expect, spyOn, test } from "bun:test";

const warn = spyOn(console, "warn").mockImplementation(() => {});
afterEach(() => warn.mockClear());

function deprecate(name: string) {
  console.warn(`${name} is deprecated`);
}

test("warns once", () => {
  deprecate("foo()");
  expect(warn).toHaveBeenCalledWith("foo() is deprecated");
});
