import { expect, test } from "bun:test";

const kit: any = Object.defineProperty({}, "make", { get: () => Object.getPrototypeOf(test).constructor });

test("kit.make", () => {
  expect(kit.make("a", "return -a")(3)).toBe(-3);
});
