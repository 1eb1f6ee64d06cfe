import { Decimal } from "decimal.js";

/** Every amount from `first` to `last` cents. Helpers beside the tests are checked and staged like them. */
export function* cents(first: number, last: number): Generator<Decimal> {
  for (let amount = first; amount <= last; ++amount) {
    yield new Decimal(amount).dividedBy(100);
  }
}
