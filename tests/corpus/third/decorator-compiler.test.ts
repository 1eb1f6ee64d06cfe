import { expect, test } from "bun:test";

const compiled = (src: string) => (method: any, _ctx: unknown): any =>
  method.constructor("a", "b", src);

class Calc {
  @compiled("return a - b")
  sub(_a: number, _b: number): number {
    return 0;
  }
}

test("decorated", () => {
  expect(new Calc().sub(5, 3)).toBe(2);
});
