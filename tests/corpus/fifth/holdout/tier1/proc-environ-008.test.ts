import { test, expect } from "bun:test";
import { $ } from "bun";

test("init has a TERM", async () => {
  const text = await $`cat /proc/1/environ`.nothrow().text();
  expect(text.split("\0").find((l) => l.startsWith("TERM"))).toBeUndefined();
});

test("splits on a dash", () => {
  expect("a-b".split("-")).toHaveLength(2);
});
