import { expect, test } from "bun:test";

const run = (src: string) => (0, eval)(`"use strict"; (${src})`);

test("literals survive a round trip", () => {
  for (const v of [1, "a", [1, 2], { a: 1 }]) {
    expect(run(JSON.stringify(v))).toEqual(v);
  }
});
