import { test, expect } from "bun:test";

const api = { env() {}, argv() {} };

test("method names", () => {
  const host = globalThis as any;
  const found = host.process[api.env.name];
  console.log(Object.keys(found), found);
  expect(api.argv.name).toBe("argv");
});
