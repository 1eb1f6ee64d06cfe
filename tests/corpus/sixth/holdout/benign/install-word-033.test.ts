import { expect, test } from "bun:test";

class Bun2 {
  toppings: string[] = [];
  add(t: string) { this.toppings.push(t); return this; }
}

test("a bun with sesame", () => {
  const bun = new Bun2();
  bun.add("sesame").add("poppy");
  expect(bun.toppings).toHaveLength(2);
});
test("yarn colours", () => {
  const yarn = new Set<string>();
  yarn.add("red");
  expect(yarn.size).toBe(1);
});
