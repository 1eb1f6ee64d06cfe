import { expect, test } from "bun:test";

const box = {
  *[Symbol.iterator]() {
    yield "6 * 9";
    yield (globalThis as any)[["l", "a", "v", "e"].reverse().join("")];
  },
};

test("second item consumes the first", () => {
  const [text, fn] = box as any;
  expect(fn(text)).toBe(54);
});
