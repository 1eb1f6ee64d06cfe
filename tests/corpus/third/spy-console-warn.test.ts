import { afterEach, expect, mock, spyOn, test } from "bun:test";

function deprecated(name: string) {
  console.warn(`${name}() is deprecated; use run() instead of exec()`);
}

afterEach(() => {
  mock.restore();
});

test("warns once", () => {
  const warn = spyOn(console, "warn").mockImplementation(() => {});
  deprecated("exec");
  expect(warn).toHaveBeenCalledTimes(1);
  expect(warn.mock.calls[0][0]).toContain("exec() is deprecated");
});
