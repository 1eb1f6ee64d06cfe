import { describe, expect, test } from "bun:test";

function loadConfig(env: Record<string, string | undefined>) {
  const { PORT = "3000", NODE_ENV: mode = "development", API_URL } = env;
  if (!API_URL) throw new Error("API_URL is required");
  return { port: Number(PORT), mode, apiUrl: new URL(API_URL) };
}

describe("loadConfig(env)", () => {
  test("parses", () => {
    const c = loadConfig({ API_URL: "http://localhost:1/x", PORT: "81" });
    expect(c).toMatchObject({ port: 81, mode: "development" });
    expect(c.apiUrl.pathname).toBe("/x");
  });
  test("throws without API_URL", () => {
    expect(() => loadConfig({})).toThrow("API_URL is required");
  });
});
