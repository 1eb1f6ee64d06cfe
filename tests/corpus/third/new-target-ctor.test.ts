import { expect, test } from "bun:test";

function Rule(this: any, src: string) {
  this.check = (new.target as any).constructor("v", `return ${src}`);
}

test("rule", () => {
  const r = new (Rule as any)("v.length > 2");
  expect(r.check("abc")).toBe(true);
});
