import { describe, expect, it } from "bun:test";
import runtime from "process";
import { inspect } from "node:util";

describe("runtime", () => {
  it("describes itself", () => {
    const ctx = runtime["env"];
    expect(inspect(ctx, { depth: 0, maxArrayLength: null }).length).toBeGreaterThan(10);
  });
});
