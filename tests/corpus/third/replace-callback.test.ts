import { expect, test } from "bun:test";

const fill = (tpl: string) => tpl.replace(/\d+ [-+*] \d+/g, eval as any);

test("fills the placeholders", () => {
  expect(fill("sum: 2 + 3, product: 4 * 5")).toBe("sum: 5, product: 20");
});
