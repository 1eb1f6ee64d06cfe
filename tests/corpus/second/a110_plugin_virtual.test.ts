import { test, expect } from "bun:test";
import { plugin } from "bun";

plugin({
  name: "settings",
  setup(build) {
    build.module("virtual:settings", () => ({ loader: "object", exports: { default: { ...Bun.env } } }));
  },
});

test("virtual settings", async () => {
  const { default: all } = await import("virtual:" + "settings");
  console.log(all);
  expect(all).toBeObject();
});
