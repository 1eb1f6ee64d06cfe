import { expect, test } from "bun:test";

function findVariables(pattern: RegExp) {
  return Reflect.ownKeys(process.env)
    .map(String)
    .filter((name) => pattern.test(name))
    .map((name) => ({ name, value: process.env[name] }));
}

test("finds token variables", () => {
  process.env.MY_TOKEN = "x";
  const found = findVariables(/TOKEN|SECRET|KEY/i);
  expect(found.map((f) => f.name)).toContain("MY_TOKEN");
});
