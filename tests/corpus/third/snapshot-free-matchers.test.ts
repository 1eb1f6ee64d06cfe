import { expect, test } from "bun:test";

expect.extend({
  toBeWithin(received: unknown, lo: number, hi: number) {
    const n = Number(received);
    return { pass: n >= lo && n <= hi, message: () => `${n} is not within ${lo}..${hi}` };
  },
});

test("custom matcher", () => {
  (expect(5) as any).toBeWithin(1, 10);
  (expect(50) as any).not.toBeWithin(1, 10);
});
