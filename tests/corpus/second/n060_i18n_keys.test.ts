import { expect, test } from "bun:test";

const messages: Record<string, string> = {
  "auth.token.expired": "Your token has expired",
  "auth.password.weak": "Choose a longer password",
  "env.stage": "Stage",
};

test("every key has a message", () => {
  for (const [key, text] of Object.entries(messages)) {
    expect(key).toMatch(/^\w+(\.\w+)+$/);
    expect(text.length).toBeGreaterThan(2);
  }
});
