import { expect, test } from "bun:test";

function compile(template: string): (data: Record<string, unknown>) => string {
  const body = "return `" + template.replace(/\{\{(\w+)\}\}/g, "${data.$1}") + "`;";
  return new Function("data", body) as (data: Record<string, unknown>) => string;
}

test("renders a greeting", () => {
  expect(compile("Hello {{name}}")({ name: "Ada" })).toBe("Hello Ada");
});
