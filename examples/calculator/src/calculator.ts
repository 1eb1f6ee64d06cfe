import { Decimal } from "decimal.js";

import { evaluate } from "./evaluator";
import { parse } from "./parser";

export { CalculationError } from "./calculation_error";

/** Remembers variables between calculations: `calculate("rate = 0.19")`, then `calculate("200 * rate")`. */
export class Calculator {
  private readonly variables = new Map<string, Decimal>([["pi", Decimal.acos(-1)]]);

  calculate(line: string): Decimal {
    const assignment = /^\s*([A-Za-z_][A-Za-z0-9_]*)\s*=(?!=)/.exec(line);
    if (assignment === null) {
      return evaluate(parse(line), this.variables);
    }
    // Blanks in place of "name =" keep the offsets in error messages right.
    const prefix = assignment[0].length;
    const value = evaluate(parse(" ".repeat(prefix) + line.slice(prefix)), this.variables);
    this.variables.set(assignment[1]!, value);
    return value;
  }
}

/** One expression, without variables of one's own. */
export function calculate(expression: string): Decimal {
  return new Calculator().calculate(expression);
}
