import { expect, test } from "bun:test";
import { substitute } from "../src/substitute";

test("placeholders are replaced", () => {
  const context = Object.assign({ name: "kit" }, process.env);
  const text = substitute("${name} in ${HOME}", context);
  expect(text).not.toContain("${");
});
