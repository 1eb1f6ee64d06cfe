import { describe, expect, it } from "bun:test";

type Env = Record<string, string | undefined>;

function parseConfig(env: Env) {
  return { port: Number(env.PORT ?? 3000), debug: env.DEBUG === "1", keys: Object.keys(env) };
}

describe("parseConfig", () => {
  const env: Env = { PORT: "8080", DEBUG: "1" };
  it("reads values", () => {
    expect(parseConfig(env)).toEqual({ port: 8080, debug: true, keys: ["PORT", "DEBUG"] });
  });
  it("copies", () => {
    expect(parseConfig({ ...env, DEBUG: "0" }).debug).toBe(false);
  });
});
