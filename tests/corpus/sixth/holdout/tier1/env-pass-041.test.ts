import { describe, expect, it } from "bun:test";

type Env = Record<string, string | undefined>;

export function loadConfig(env: Env = process.env) {
  const out: Record<string, string> = {};
  for (const [k, v] of Object.entries(env)) {
    if (v) out[k] = v;
  }
  return out;
}

describe("loadConfig", () => {
  it("uses the real environment by default", () => {
    expect(Object.keys(loadConfig()).length).toBeGreaterThan(0);
  });
});
