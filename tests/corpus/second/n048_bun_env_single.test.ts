import { describe, expect, it } from "bun:test";

const flag = (v = Bun.env.FEATURE_X) => v === "on";

describe("feature flag", () => {
  it("is off by default", () => expect(flag()).toBe(false));
  it("can be forced", () => expect(flag("on")).toBe(true));
});
