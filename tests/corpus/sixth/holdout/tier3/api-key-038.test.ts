import { describe, expect, test } from "bun:test";

const keyNames = {
  google: "GEMINI_API_KEY",
  local: "",
} as const;

function headersFor(provider: keyof typeof keyNames): Headers {
  const name = keyNames[provider];
  const h = new Headers();
  if (name) h.set("x-goog-api-key", process.env[name] ?? "");
  return h;
}

describe("headersFor", () => {
  test("google has a key header", () => {
    expect(headersFor("google").has("x-goog-api-key")).toBe(true);
  });
});
