import { expect, test } from "bun:test";

const lookup = (name: string) => Bun.env[name];

test("gemini is configured or not", () => {
  expect(["string", "undefined"]).toContain(typeof lookup("GEMINI_API_KEY"));
});
