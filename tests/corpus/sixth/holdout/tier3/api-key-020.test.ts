import { describe, expect, it } from "bun:test";

const hasKeys = Boolean(process.env.OPENAI_API_KEY) && Boolean(process.env.ANTHROPIC_API_KEY);

describe.skipIf(!hasKeys)("live providers", () => {
  it("answers", async () => {
    const headers = { authorization: `Bearer ${process.env.OPENAI_API_KEY}` };
    expect(headers.authorization.length).toBeGreaterThan(7);
  });
});

it("knows both providers", () => {
  expect(["openai", "anthropic"]).toHaveLength(2);
});
