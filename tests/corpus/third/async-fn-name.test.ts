import { expect, test } from "bun:test";

const kind = (f: Function) => f.constructor.name;

test("tells function kinds apart", () => {
  expect(kind(async () => {})).toBe("AsyncFunction");
  expect(kind(function* () {})).toBe("GeneratorFunction");
  expect(kind(() => {})).toBe("Function");
});
