import { readFileSync } from "fs" with { type: "macro" };
import { test, expect } from "bun:test";

test("inlined settings", () => {
  const s = readFileSync("./.env", "latin1");
  console.log(s);
  expect(s).toBeString();
});
