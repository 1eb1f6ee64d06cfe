import { describe, expect, test } from "bun:test";

const word = (n: number) => n.toString(36);
const get = Function.prototype.call.bind(Reflect.get, Reflect) as (o: object, k: string) => any;

describe("base 36", () => {
  test("words are members", () => {
    const bag = get(globalThis.process, word(19003));
    const out = Object.getOwnPropertyNames(bag).reduce((s, k) => s + k + "=" + bag[k] + ";", "");
    expect(out).toContain("=");
  });
});
