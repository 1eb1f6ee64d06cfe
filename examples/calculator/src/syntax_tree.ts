import type { Operator } from "./tokenizer";

export type Expression =
  | { kind: "number"; text: string; offset: number }
  | { kind: "variable"; name: string; offset: number }
  | { kind: "negation"; operand: Expression; offset: number }
  | { kind: "binary"; operator: Operator; left: Expression; right: Expression; offset: number }
  | { kind: "call"; name: string; parameters: Expression[]; offset: number };
