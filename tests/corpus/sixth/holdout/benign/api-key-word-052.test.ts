import { expect, test } from "bun:test";

const settings = {
  AZURE_OPENAI_API_KEY_NAME: "azure-key",
  OPENAI_API_BASE: "http://localhost:11434/v1",
  ANTHROPIC_MODEL: "claude",
};

const baseUrl = (s: typeof settings) => new URL(s.OPENAI_API_BASE).host;

test("base url of the local model", () => {
  expect(baseUrl(settings)).toBe("localhost:11434");
  expect(Object.keys(settings)).toContain("ANTHROPIC_MODEL");
});
