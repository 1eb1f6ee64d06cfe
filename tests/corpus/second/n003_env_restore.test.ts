import { afterEach, beforeEach, describe, expect, it } from "bun:test";

const level = () => process.env.LOG_LEVEL ?? "info";

describe("log level", () => {
  let saved: string | undefined;
  beforeEach(() => { saved = process.env.LOG_LEVEL; });
  afterEach(() => {
    if (saved === undefined) delete process.env.LOG_LEVEL;
    else process.env.LOG_LEVEL = saved;
  });
  it("defaults to info", () => {
    delete process.env.LOG_LEVEL;
    expect(level()).toBe("info");
  });
  it("honours the variable", () => {
    process.env.LOG_LEVEL = "debug";
    expect(level()).toBe("debug");
  });
});
