import { expect, test } from "bun:test";
import { config as loadVars, parse } from "dotenv";

const result = loadVars({ path: ["config/app.env", "config/base.env"] });

test("loads without error", () => {
  expect(result.error).toBeUndefined();
});

test("parse understands quotes", () => {
  expect(parse("A='x y'").A).toBe("x y");
});
