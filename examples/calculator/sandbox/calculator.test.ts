import { describe, expect, test } from "bun:test";
import { Decimal } from "decimal.js";

import { CalculationError, Calculator, calculate } from "../src/calculator";

describe("calculate", () => {
  test.each([
    ["1 + 2 * 3", "7"],
    ["(1 + 2) * 3", "9"],
    ["2 ^ 3 ^ 2", "512"],
    ["-2 ^ 2", "-4"],
    ["7 % 4", "3"],
    ["10 / 4", "2.5"],
    ["1e3 - .5", "999.5"],
    ["max(1, 2, 3) + min(4, 5)", "7"],
    ["round(2.345, 2)", "2.35"],
    ["sqrt(abs(-16))", "4"],
  ])("%s is %s", (expression, value) => {
    expect(calculate(expression).toString()).toBe(value);
  });

  test("adds decimals exactly", () => {
    expect(0.1 + 0.2).not.toBe(0.3);
    expect(calculate("0.1 + 0.2").equals(new Decimal("0.3"))).toBe(true);
  });

  test.each([
    ["1 / 0", "division by zero at position 3"],
    ["1 +", "expected a value but found the end at position 4"],
    ["(1", 'expected ")" but found the end at position 3'],
    ["2 $ 3", 'unexpected "$" at position 3'],
    ["1 2", 'unexpected "2" at position 3'],
    ["nothing + 1", 'unknown variable "nothing" at position 1'],
    ["toString(1)", 'unknown function "toString" at position 1'],
    ["sqrt(-1)", "no finite result at position 1"],
    ["abs(1, 2)", 'wrong number of values for "abs" at position 1'],
  ])("%s is refused", (expression, message) => {
    expect(() => calculate(expression)).toThrow(message);
  });

  test("refuses what would exhaust the stack", () => {
    expect(() => calculate("(".repeat(5000) + "1" + ")".repeat(5000))).toThrow("nested too deeply");
  });
});

describe("Calculator", () => {
  test("remembers variables", () => {
    const calculator = new Calculator();
    calculator.calculate("rate = 0.19");
    expect(calculator.calculate("200 * rate").toString()).toBe("38");
  });

  test("knows pi", () => {
    expect(calculate("round(pi, 5)").toString()).toBe("3.14159");
  });

  test("keeps positions right behind an assignment", () => {
    expect(() => new Calculator().calculate("x = 1 +")).toThrow("at position 8");
  });

  test("shares nothing between calculators", () => {
    new Calculator().calculate("mine = 1");
    expect(() => new Calculator().calculate("mine")).toThrow(CalculationError);
  });
});
