import { Decimal } from "decimal.js";

import { CalculationError } from "./calculation_error";
import type { Expression } from "./syntax_tree";

export type Variables = ReadonlyMap<string, Decimal>;

type Function1 = (parameters: Decimal[]) => Decimal;

const functions: Record<string, { parametersMin: number; parametersMax: number; apply: Function1 }> = {
  abs: { parametersMin: 1, parametersMax: 1, apply: ([x]) => x!.abs() },
  sqrt: { parametersMin: 1, parametersMax: 1, apply: ([x]) => x!.sqrt() },
  round: {
    parametersMin: 1,
    parametersMax: 2,
    apply: ([x, places]) => x!.toDecimalPlaces(places?.toNumber() ?? 0, Decimal.ROUND_HALF_UP),
  },
  min: { parametersMin: 1, parametersMax: 64, apply: (parameters) => Decimal.min(...parameters) },
  max: { parametersMin: 1, parametersMax: 64, apply: (parameters) => Decimal.max(...parameters) },
};

/** The value of `tree`. Decimal throughout: 0.1 + 0.2 is 0.3. */
export function evaluate(tree: Expression, variables: Variables): Decimal {
  switch (tree.kind) {
    case "number":
      return new Decimal(tree.text);
    case "variable": {
      const value = variables.get(tree.name);
      if (value === undefined) {
        throw new CalculationError(`unknown variable "${tree.name}"`, tree.offset);
      }
      return value;
    }
    case "negation":
      return evaluate(tree.operand, variables).negated();
    case "binary":
      return combine(tree, evaluate(tree.left, variables), evaluate(tree.right, variables));
    case "call": {
      const entry = Object.hasOwn(functions, tree.name) ? functions[tree.name] : undefined;
      if (entry === undefined) {
        throw new CalculationError(`unknown function "${tree.name}"`, tree.offset);
      }
      const count = tree.parameters.length;
      if (count < entry.parametersMin || count > entry.parametersMax) {
        throw new CalculationError(`wrong number of values for "${tree.name}"`, tree.offset);
      }
      return finite(entry.apply(tree.parameters.map((parameter) => evaluate(parameter, variables))), tree.offset);
    }
  }
}

function combine(tree: Extract<Expression, { kind: "binary" }>, left: Decimal, right: Decimal): Decimal {
  switch (tree.operator) {
    case "+":
      return left.plus(right);
    case "-":
      return left.minus(right);
    case "*":
      return left.times(right);
    case "/":
    case "%":
      if (right.isZero()) {
        throw new CalculationError("division by zero", tree.offset);
      }
      return tree.operator === "/" ? left.dividedBy(right) : left.modulo(right);
    case "^":
      return finite(left.pow(right), tree.offset);
  }
}

function finite(value: Decimal, offset: number): Decimal {
  if (!value.isFinite()) {
    throw new CalculationError("no finite result", offset);
  }
  return value;
}
