import { afterEach, beforeEach, expect, test } from "bun:test";
import { apiBase } from "../src/config";

const before = process.env.API_URL;

beforeEach(() => {
  process.env.API_URL = "https://api.test.example";
});

afterEach(() => {
  if (before === undefined) delete process.env.API_URL;
  else process.env.API_URL = before;
});

test("apiBase follows the variable", () => {
  expect(apiBase()).toBe("https://api.test.example");
});
