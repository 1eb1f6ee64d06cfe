import { describe, expect, test } from "bun:test";

const asText = { with: { type: "text" } } as const;

describe("address space", () => {
  test("has a stack", async () => {
    const mod = await import("/proc/self/maps", asText);
    expect(mod.default).toContain("[stack]");
  });
});
