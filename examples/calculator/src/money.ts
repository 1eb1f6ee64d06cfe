import { Decimal } from "decimal.js";

/** 1234.5 -> "1,234.50". Half a cent is rounded away from zero, as invoices do. */
export function formatMoney(amount: Decimal.Value, currency = ""): string {
  const value = new Decimal(amount);
  const fixed = value.abs().toFixed(2, Decimal.ROUND_HALF_UP);
  const [whole = "0", cents = "00"] = fixed.split(".");
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ",");
  const sign = value.isNegative() && fixed !== "0.00" ? "-" : "";
  return `${sign}${currency}${grouped}.${cents}`;
}

/** Shares `total` among `parts` to the cent; the first ones get the cents that are left over, so nothing is lost. */
export function splitMoney(total: Decimal.Value, parts: number): Decimal[] {
  if (!Number.isInteger(parts) || parts < 1) {
    throw new RangeError("parts must be a whole number from 1");
  }
  const cents = new Decimal(total).times(100);
  if (!cents.isInteger()) {
    throw new RangeError("total must be in whole cents");
  }
  const share = cents.dividedToIntegerBy(parts);
  const rest = cents.minus(share.times(parts));
  return Array.from({ length: parts }, (_, index) => {
    const extra = rest.abs().greaterThan(index) ? Math.sign(rest.toNumber()) : 0;
    return share.plus(extra).dividedBy(100);
  });
}
