import { expect, test } from "bun:test";

class Money {
  constructor(readonly cents: number) {}
  add(o: Money) {
    return new (this.constructor as typeof Money)(this.cents + o.cents);
  }
}

test("add keeps the class", () => {
  const m = new Money(5).add(new Money(7));
  expect(m.constructor.name).toBe("Money");
  expect(m.constructor).toBe(Money);
  expect(m.cents).toBe(12);
});
