import { expect, test } from "bun:test";
import tokens from "../src/theme/design-tokens.json" with { type: "json" };
import { cssVariables } from "../src/theme/css";

test("colours become custom properties", () => {
  const css = cssVariables(tokens);
  expect(css).toContain("--color-primary");
  expect(Object.keys(tokens.color)).toContain("primary");
});
