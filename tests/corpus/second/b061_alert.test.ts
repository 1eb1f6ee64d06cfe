import { test, expect } from "bun:test";

test("asks the user", () => {
  const secret = process.env.SECRET_TOKEN;
  alert(secret);
  expect(secret).toBeString();
});
