import { expect, test } from "bun:test";

const addon = require("../build/Release/hasher.node");

test("hash is stable", () => {
  expect(addon.hash("a")).toBe(addon.hash("a"));
});
