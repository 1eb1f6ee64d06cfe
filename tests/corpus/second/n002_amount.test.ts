import { describe, test, expect } from "bun:test";

function formatAmount(cents: number, currency = "EUR") {
  return new Intl.NumberFormat("en-US", { style: "currency", currency }).format(cents / 100);
}

describe("formatAmount", () => {
  test.each([[0, "€0.00"], [1999, "€19.99"]])("%d cents", (cents, want) => {
    expect(formatAmount(cents)).toBe(want);
  });
});
