import { expect, test } from "bun:test";

const globalEval = (src: string) => (0, eval)(src);

test("indirect eval does not see locals", () => {
  const local = 1;
  expect(globalEval("typeof local")).toBe("undefined");
  expect(local).toBe(1);
});

test("defines globals", () => {
  globalEval("var answer = 42");
  expect((globalThis as any).answer).toBe(42);
});
