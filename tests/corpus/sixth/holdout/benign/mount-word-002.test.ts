import { expect, test } from "bun:test";

const formatAmount = (amount: number, currency = "EUR") =>
  new Intl.NumberFormat("en-IE", { style: "currency", currency }).format(amount);

const totalAmount = (rows: { amount: number }[]) => rows.reduce((s, r) => s + r.amount, 0);

test("formatAmount", () => {
  expect(formatAmount(12.5)).toContain("12.50");
});
test("the mount of a camera is not an amount", () => {
  expect(totalAmount([{ amount: 2 }, { amount: 3 }])).toBe(5);
});
