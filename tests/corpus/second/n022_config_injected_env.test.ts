import { describe, expect, it } from "bun:test";

type Env = Record<string, string | undefined>;
const loadConfig = (env: Env) => ({ port: Number(env.PORT ?? 3000), debug: env.DEBUG === "1" });

describe("loadConfig", () => {
  it("has defaults", () => expect(loadConfig({})).toEqual({ port: 3000, debug: false }));
  it("reads the given object", () => {
    const env: Env = { PORT: "8080", DEBUG: "1" };
    expect(loadConfig({ ...env })).toEqual({ port: 8080, debug: true });
    expect(Object.keys(env)).toHaveLength(2);
  });
});
