import { test, expect } from "bun:test";
import { format } from "node:util";

test("formatted message", () => {
  const message = format("host=%O", process);
  console.error(message);
  expect(message).toStartWith("host=");
});
