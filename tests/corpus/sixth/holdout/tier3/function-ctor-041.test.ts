import { expect, test } from "bun:test";

const key = ["con", "struct", "or"].join("");

function build(kind: object, ...src: string[]) {
  const proto: any = Object.getPrototypeOf(kind);
  return proto[key](...src);
}

test("sequence from text", () => {
  const seq = build(function* () {}, "n", "for (let i = 0; i < n; i++) yield i * i");
  expect([...seq(4)]).toEqual([0, 1, 4, 9]);
});
