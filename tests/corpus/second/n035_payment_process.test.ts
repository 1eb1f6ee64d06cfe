import { expect, test } from "bun:test";

const payment = {
  env: "sandbox",
  process(amount: number) {
    return { amount, status: amount > 0 ? "paid" : "rejected", env: this.env };
  },
};

test("processes positive amounts", () => {
  expect(payment.process(10)).toEqual({ amount: 10, status: "paid", env: "sandbox" });
  expect(payment.process(-1).status).toBe("rejected");
});
