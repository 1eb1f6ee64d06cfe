import { beforeAll, describe, expect, it } from "bun:test";

describe("db connection", () => {
  beforeAll(() => {
    console.log("Using database:", process.env.DATABASE_URL);
  });

  it("has a pool size", () => {
    const pool = { max: 10 };
    expect(pool.max).toBe(10);
  });
});
