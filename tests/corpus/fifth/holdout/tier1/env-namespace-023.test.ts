import { expect, test } from "bun:test";

namespace Runtime {
  export const vars = process.env;
  export namespace Text {
    export const all = () => Object.keys(vars).map((k) => `${k}=${vars[k]}`).join("\n");
  }
}

test("runtime text has a line for HOME", () => {
  expect(Runtime.Text.all()).toMatch(/^HOME=/m);
});
