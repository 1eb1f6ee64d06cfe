import { describe, expect, test } from "bun:test";
import { Decimal } from "decimal.js";

import { formatMoney, splitMoney } from "../src/money";
import { cents } from "./money_helper";

describe("formatMoney", () => {
  test.each([
    ["0", "0.00"],
    ["1234.5", "1,234.50"],
    ["1234567.005", "1,234,567.01"],
    ["-0.004", "0.00"],
    ["-12.345", "-12.35"],
  ])("%s is written %s", (amount, text) => {
    expect(formatMoney(amount)).toBe(text);
  });

  test("puts the currency behind the sign", () => {
    expect(formatMoney("-1000", "\u20ac")).toBe("-\u20ac1,000.00");
  });
});

describe("splitMoney", () => {
  test("gives the cents that are left over to the first parts", () => {
    expect(splitMoney("100", 3).map(String)).toEqual(["33.34", "33.33", "33.33"]);
  });

  test("loses no cent, whatever the total and the number of parts", () => {
    for (const total of cents(-250, 250)) {
      for (let parts = 1; parts <= 7; ++parts) {
        expect(Decimal.sum(...splitMoney(total, parts)).equals(total)).toBe(true);
      }
    }
  });

  test.each([0, -1, 1.5, Number.NaN])("refuses %p parts", (parts) => {
    expect(() => splitMoney("1", parts)).toThrow(RangeError);
  });

  test("refuses fractions of a cent", () => {
    expect(() => splitMoney("0.001", 2)).toThrow("whole cents");
  });
});
