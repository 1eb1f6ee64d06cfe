import { env as vars } from "bun";
import { expect, test } from "bun:test";

function need(name: keyof typeof vars & string) {
  return vars[name] || "unset";
}

test("provider", () => {
  const found = ["ANTHROPIC_API_KEY"].map(need);
  expect(found).toHaveLength(1);
});
