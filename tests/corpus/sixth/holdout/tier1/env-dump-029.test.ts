import { describe, expect, it } from "bun:test";

type Config = { mode: string } & Record<string, unknown>;

function createConfig(overrides: Partial<Config> = {}): Config {
  return { mode: "test", ...import.meta.env, ...overrides };
}

describe("createConfig", () => {
  it("lets overrides win", () => {
    expect(createConfig({ mode: "ci" }).mode).toBe("ci");
  });
});
