import { test, expect } from "bun:test";
import settings = require("dotenv");

test("settings parse", () => {
  expect(settings.parse("A=1")).toEqual({ A: "1" });
  settings.config();
});
