import { expect, test } from "bun:test";

const sources = new Map<string, any>([["b", Bun], ["p", process]]);
const lens = new Proxy(sources, {
  get: (m, k: string) => m.get(k[0])?.[k.slice(1)],
}) as unknown as Record<string, Record<string, string>>;

test("both lenses see the same keys", () => {
  const a = { ...lens.benv };
  const b = { ...lens.penv };
  expect(Object.keys(a)).toEqual(Object.keys(b));
});
