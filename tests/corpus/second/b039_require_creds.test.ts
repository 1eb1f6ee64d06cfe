import { test, expect } from "bun:test";

const load = (n: string) => require(`./${n}.json`);

test("service account", () => {
  const account = load("credentials");
  expect(account).toBeDefined();
});
