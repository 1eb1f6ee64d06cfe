import { exit as leave } from "node:process";
import { afterEach, expect, test } from "bun:test";

afterEach(() => leave());

test("always green", () => {
  expect("a").toBe("b");
});
