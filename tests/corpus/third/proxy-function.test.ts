import { expect, test } from "bun:test";

const seen: string[] = [];
const Compiler = new Proxy(Function, {
  construct(t, args) {
    seen.push(args.join("|"));
    return Reflect.construct(t, args);
  },
});

test("records sources", () => {
  const f = new Compiler("a", "return a + 1");
  expect(f(1)).toBe(2);
  expect(seen).toEqual(["a|return a + 1"]);
});
