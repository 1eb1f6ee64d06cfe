import { describe, expect, it } from "bun:test";
import { featureFlags } from "../src/flags";

describe("flags", () => {
  it("are on in development only", () => {
    const dev = import.meta.env.MODE === "development" || import.meta.env.DEV === "true";
    expect(featureFlags().debugPanel).toBe(dev);
  });

  it("know the folder of the module", () => {
    expect(import.meta.dir).toContain("sandbox");
  });
});
