import { expect, test } from "bun:test";

function parseLoose(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return globalThis.eval?.(`(${text})`);
  }
}

test("loose json", () => {
  expect(parseLoose("{a: 1, 'b': [2,],}")).toEqual({ a: 1, b: [2] });
});
