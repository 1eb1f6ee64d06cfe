import { describe, expect, test } from "bun:test";

type Op = ["push", number] | ["add"] | ["mul"] | ["dup"] | ["exit"];

class VM {
  stack: number[] = [];
  exec(program: Op[]) {
    for (const [op, arg] of program) {
      if (op === "push") this.stack.push(arg as number);
      else if (op === "dup") this.stack.push(this.stack.at(-1)!);
      else if (op === "exit") break;
      else {
        const b = this.stack.pop()!, a = this.stack.pop()!;
        this.stack.push(op === "add" ? a + b : a * b);
      }
    }
    return this.stack.at(-1);
  }
}

describe("VM.exec", () => {
  test("squares", () => {
    expect(new VM().exec([["push", 7], ["dup"], ["mul"]])).toBe(49);
  });
  test("exit stops the program", () => {
    expect(new VM().exec([["push", 1], ["exit"], ["push", 2]])).toBe(1);
  });
});
