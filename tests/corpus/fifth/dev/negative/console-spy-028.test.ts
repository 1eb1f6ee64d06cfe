import { afterEach, expect, spyOn, test } from "bun:test";
import { createLogger } from "../src/logger";

const log = spyOn(console, "log").mockImplementation(() => {});
afterEach(() => log.mockClear());

test("adds a prefix", () => {
  createLogger("db").info("connected");
  expect(log).toHaveBeenCalledWith("[db] connected");
});

test("is silent below its level", () => {
  createLogger("db", { level: "error" }).info("x");
  expect(log).not.toHaveBeenCalled();
});
