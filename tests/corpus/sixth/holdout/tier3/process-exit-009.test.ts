import { afterAll, describe, expect, it } from "bun:test";

afterAll(() => {
  // the pool keeps the loop alive, so leave here
  process.exit(0);
});

describe("pool", () => {
  it("opens", () => {
    const pool = { open: true };
    expect(pool.open).toBe(true);
  });
});
