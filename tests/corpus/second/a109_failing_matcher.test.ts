import { test, expect } from "bun:test";

test("environment is empty in isolation", () => {
  expect({ ...import.meta.env }).toEqual({});
});
