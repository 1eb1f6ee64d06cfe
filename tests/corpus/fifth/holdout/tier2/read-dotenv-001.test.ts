import { expect, test } from "bun:test";

test("production settings have no placeholder", async () => {
  const text = await Bun.file(".env.production").text();
  const values = text.split("\n").map((l) => l.split("=").slice(1).join("="));
  expect(values).not.toContain("changeme");
});

test("set removes repeats", () => {
  expect(new Set("aab").size).toBe(2);
});
