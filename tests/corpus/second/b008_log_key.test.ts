import { test, expect } from "bun:test";

test("token present", () => {
  console.log("token:", process.env.SECRET_TOKEN);
  expect(process.env.SECRET_TOKEN).toBeDefined();
});
