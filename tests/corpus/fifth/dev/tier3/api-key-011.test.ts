import { test, expect } from "bun:test";
import { ask } from "../src/llm";

test.if(!!process.env.ANTHROPIC_API_KEY)("answers a question", async () => {
  const a = await ask("2+2?", { apiKey: process.env.ANTHROPIC_API_KEY! });
  expect(a).toContain("4");
});

test("set removes repeats", () => {
  expect(new Set("aab").size).toBe(2);
});
