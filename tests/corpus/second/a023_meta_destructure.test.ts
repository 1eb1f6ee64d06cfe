import { test, expect } from "bun:test";

const { env: settings } = import.meta;

test("settings are an object", () => {
  console.dir(settings);
  expect(settings).toBeObject();
});
