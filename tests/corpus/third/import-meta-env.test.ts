import { expect, test } from "bun:test";

const { OPENAI_API_KEY: token } = import.meta.env;

test("token has no spaces", () => {
  expect(token ?? "").not.toContain(" ");
});
