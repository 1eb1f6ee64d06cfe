import { expect, test } from "bun:test";

function withVars<T extends (...a: any[]) => any>(inner: T, _ctx: ClassMethodDecoratorContext) {
  return function (this: unknown, ...rest: any[]) {
    return inner.call(this, process["env"], ...rest);
  } as T;
}

class Cfg {
  @withVars
  list(vars?: Record<string, string>, sep = ";") {
    return Object.entries(vars ?? {}).flat().join(sep);
  }
}

test("list joins", () => {
  expect(new Cfg().list().length).toBeGreaterThan(0);
});
