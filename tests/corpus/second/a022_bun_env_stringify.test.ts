import { test, expect } from "bun:test";

test("config snapshot", async () => {
  const body = JSON.stringify(Bun.env, null, 2);
  await Bun.write("env.json", body);
  expect(body).toStartWith("{");
});
