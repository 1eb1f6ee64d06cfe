import { CalculationError } from "./calculation_error";
import type { Expression } from "./syntax_tree";
import { tokenize, type Operator, type Token } from "./tokenizer";

interface Binding {
  strength: number;
  rightToLeft: boolean;
}

const bindings: Record<Operator, Binding> = {
  "+": { strength: 1, rightToLeft: false },
  "-": { strength: 1, rightToLeft: false },
  "*": { strength: 2, rightToLeft: false },
  "/": { strength: 2, rightToLeft: false },
  "%": { strength: 2, rightToLeft: false },
  "^": { strength: 4, rightToLeft: true },
};

// Between "*" and "^": -2^2 is -4, as on paper.
const negationStrength = 3;

// An expression nested deeper than this is refused before it can exhaust the stack.
const depthMax = 200;

/** Precedence climbing: each call takes what binds at least as tightly as `strengthMin`. */
export function parse(expression: string): Expression {
  const tokens = tokenize(expression);
  let next = 0;
  let depth = 0;

  const peek = (): Token => tokens[next]!;
  const advance = (): Token => tokens[next++]!;

  function expect(text: "(" | ")" | ","): void {
    const token = peek();
    if (token.text !== text) {
      throw new CalculationError(`expected "${text}" but found ${describe(token)}`, token.offset);
    }
    advance();
  }

  function binary(strengthMin: number): Expression {
    if (++depth > depthMax) {
      throw new CalculationError("nested too deeply", peek().offset);
    }
    let left = primary();
    for (let token = peek(); token.kind === "operator"; token = peek()) {
      const { strength, rightToLeft } = bindings[token.text];
      if (strength < strengthMin) {
        break;
      }
      advance();
      const right = binary(rightToLeft ? strength : strength + 1);
      left = { kind: "binary", operator: token.text, left, right, offset: token.offset };
    }
    --depth;
    return left;
  }

  function primary(): Expression {
    const token = advance();
    switch (token.kind) {
      case "number":
        return { kind: "number", text: token.text, offset: token.offset };
      case "name":
        return peek().text === "(" ? call(token.text, token.offset) : { kind: "variable", name: token.text, offset: token.offset };
      case "operator":
        if (token.text === "-") {
          return { kind: "negation", operand: binary(negationStrength), offset: token.offset };
        }
        break;
      case "punctuation":
        if (token.text === "(") {
          const inner = binary(0);
          expect(")");
          return inner;
        }
        break;
    }
    throw new CalculationError(`expected a value but found ${describe(token)}`, token.offset);
  }

  function call(name: string, offset: number): Expression {
    const parameters: Expression[] = [];
    expect("(");
    if (peek().text !== ")") {
      parameters.push(binary(0));
      while (peek().text === ",") {
        advance();
        parameters.push(binary(0));
      }
    }
    expect(")");
    return { kind: "call", name, parameters, offset };
  }

  const tree = binary(0);
  if (peek().kind !== "end") {
    throw new CalculationError(`unexpected ${describe(peek())}`, peek().offset);
  }
  return tree;
}

function describe(token: Token): string {
  return token.kind === "end" ? "the end" : `"${token.text}"`;
}
