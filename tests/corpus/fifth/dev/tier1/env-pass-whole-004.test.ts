import { expect, it } from "bun:test";
import { validate } from "../src/env-schema";

it("accepts the real environment", () => {
  const result = validate(structuredClone(process.env));
  expect(result.success).toBe(true);
});

it("bad JSON throws", () => {
  expect(() => JSON.parse("{")).toThrow(SyntaxError);
});
