import { afterEach, beforeEach, describe, expect, it } from "bun:test";

const isProd = () => process.env.NODE_ENV === "production";

describe("isProd", () => {
  const originalEnv = process.env;

  beforeEach(() => {
    process.env = { ...originalEnv };
  });

  afterEach(() => {
    process.env = originalEnv;
  });

  it("is true in production", () => {
    process.env.NODE_ENV = "production";
    expect(isProd()).toBe(true);
  });
});
