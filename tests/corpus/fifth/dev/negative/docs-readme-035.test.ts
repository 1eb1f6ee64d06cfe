import { expect, test } from "bun:test";
import { readme } from "../src/readme";

test("install section", () => {
  const md = readme({ name: "@acme/kit" });
  expect(md).toContain("## Installation");
  expect(md).toContain("npm install @acme/kit");
});
