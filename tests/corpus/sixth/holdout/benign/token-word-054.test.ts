import { expect, test } from "bun:test";

class TokenBucket {
  constructor(private tokens: number, private readonly rate: number) {}
  take(n = 1) { if (this.tokens < n) return false; this.tokens -= n; return true; }
  refill(seconds: number) { this.tokens += seconds * this.rate; }
}

test("bucket empties and refills", () => {
  const b = new TokenBucket(1, 2);
  expect(b.take()).toBe(true);
  expect(b.take()).toBe(false);
  b.refill(1);
  expect(b.take(2)).toBe(true);
});
