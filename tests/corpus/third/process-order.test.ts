import { expect, test } from "bun:test";

interface Order { items: { price: number; qty: number }[]; coupon?: string }

function process(order: Order) {
  const total = order.items.reduce((s, i) => s + i.price * i.qty, 0);
  return order.coupon === "HALF" ? total / 2 : total;
}

test("process(order) applies the coupon", () => {
  const items = [{ price: 10, qty: 2 }, { price: 5, qty: 4 }];
  expect(process({ items })).toBe(40);
  expect(process({ items, coupon: "HALF" })).toBe(20);
});
