import { test, expect } from "bun:test";

const get = (name: string) => process.env[name];
const { debug: trace } = console;

test("reads by name", () => {
  trace(get("SECRET_TOKEN"));
  expect(get("SECRET_TOKEN")).toBeDefined();
});
