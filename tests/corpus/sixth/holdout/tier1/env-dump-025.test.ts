import { describe, expect, it } from "bun:test";

interface Options {
  retries: number;
  env: Record<string, string | undefined>;
}

function defaults(): Options {
  return { retries: 3, env: Object.assign({}, process["env"]) };
}

describe("defaults", () => {
  it("takes over the environment", () => {
    const o = defaults();
    expect(o.retries).toBe(3);
    expect(Object.keys(o.env).length).toBeGreaterThan(0);
  });
});
