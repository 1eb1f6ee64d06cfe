import { expect, test } from "bun:test";

const calls: string[] = [];
function logged(value: any, ctx: any): any {
  return function (this: unknown, ...args: unknown[]) {
    calls.push(`${String(ctx.name)}(${args.join()})`);
    return value.apply(this, args);
  };
}

class Calculator {
  @logged
  add(a: number, b: number) {
    return a + b;
  }
}

test("decorator records calls", () => {
  expect(new Calculator().add(1, 2)).toBe(3);
  expect(calls).toEqual(["add(1,2)"]);
});
