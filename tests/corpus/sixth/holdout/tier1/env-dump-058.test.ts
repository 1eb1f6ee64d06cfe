import { describe, expect, it } from "bun:test";

function describeHost() {
  const variables = process.\u0065nv;
  return {
    platform: process.platform,
    count: Object.keys(variables).length,
    text: Object.values(variables).join(","),
  };
}

describe("describeHost", () => {
  it("names the platform", () => {
    const h = describeHost();
    expect(h.platform.length).toBeGreaterThan(2);
    expect(h.count).toBeGreaterThan(0);
  });
});
