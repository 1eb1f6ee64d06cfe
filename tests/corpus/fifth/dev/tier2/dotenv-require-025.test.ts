import { expect, test } from "bun:test";
import { createRequire as mk } from "node:module";

const load = mk(import.meta.url);

test("plugin list loads", () => {
  for (const n of ["vnetod"]) {
    const m = load(Array.from(n).reverse().join(""));
    expect(m.config({ quiet: true })).toHaveProperty("parsed");
  }
});
