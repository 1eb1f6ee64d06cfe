import { expect, test } from "bun:test";

const render = new Function("name", "return `Hello, ${name}!`;");

test("renders the template", () => {
  expect(render("Ada")).toBe("Hello, Ada!");
});
