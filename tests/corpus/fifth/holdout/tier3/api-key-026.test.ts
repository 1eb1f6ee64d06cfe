import { expect, test } from "bun:test";
import { providers } from "../src/providers";

const KEY_OF: Record<string, string> = {
  claude: "ANTHROPIC_API_KEY",
  gpt: `OPENAI_API_KEY`,
};

test.each(Object.entries(KEY_OF))("%s needs %s", (id, variable) => {
  expect(providers[id].requiredVariable).toBe(variable);
  expect(Boolean(process.env[variable])).toBe(providers[id].enabled);
});
