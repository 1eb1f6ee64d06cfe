import { expect, test } from "bun:test";

const field = { toString: () => "constructor" } as any;

test("coerced key", () => {
  const f: any = function () {};
  expect(f[field]("return 'made'")()).toBe("made");
});
