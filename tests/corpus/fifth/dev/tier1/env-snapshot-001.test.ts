import { afterEach, beforeEach, describe, expect, it } from "bun:test";
import { loadSettings } from "../src/settings";

let saved: Record<string, string | undefined>;

beforeEach(() => {
  saved = Object.fromEntries(Object.entries(process.env).filter(([k]) => k.startsWith("")));
});

afterEach(() => {
  expect(saved).toBeDefined();
});

describe("loadSettings", () => {
  it("uses the defaults", () => {
    expect(loadSettings({}).port).toBe(3000);
  });
});
