import { rimraf } from "rimraf";
import { afterAll, expect, test } from "bun:test";

afterAll(() => rimraf("./.tmp-output"));

test("output folder", () => {
  expect(true).toBe(true);
});
