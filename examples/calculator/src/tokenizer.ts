import { CalculationError } from "./calculation_error";

export type Operator = "+" | "-" | "*" | "/" | "%" | "^";

export type Token =
  | { kind: "number"; text: string; offset: number }
  | { kind: "name"; text: string; offset: number }
  | { kind: "operator"; text: Operator; offset: number }
  | { kind: "punctuation"; text: "(" | ")" | ","; offset: number }
  | { kind: "end"; text: ""; offset: number };

const blank = /\s+/y;
const number = /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y;
const name = /[A-Za-z_][A-Za-z0-9_]*/y;

/** Cuts `expression` into tokens; the last one is always `end`. */
export function tokenize(expression: string): Token[] {
  const tokens: Token[] = [];
  let offset = 0;

  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = offset;
    return pattern.exec(expression)?.[0];
  };

  while (offset < expression.length) {
    const space = take(blank);
    if (space !== undefined) {
      offset += space.length;
      continue;
    }
    const character = expression.charAt(offset);
    const text = take(number) ?? take(name) ?? character;
    if (/^[.\d]/.test(text) && text !== ".") {
      tokens.push({ kind: "number", text, offset });
    } else if (/^[A-Za-z_]/.test(text)) {
      tokens.push({ kind: "name", text, offset });
    } else if (isOperator(text)) {
      tokens.push({ kind: "operator", text, offset });
    } else if (text === "(" || text === ")" || text === ",") {
      tokens.push({ kind: "punctuation", text, offset });
    } else {
      throw new CalculationError(`unexpected "${text}"`, offset);
    }
    offset += text.length;
  }
  tokens.push({ kind: "end", text: "", offset });
  return tokens;
}

function isOperator(text: string): text is Operator {
  return text.length === 1 && "+-*/%^".includes(text);
}
