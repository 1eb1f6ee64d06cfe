import { test, expect } from "bun:test";
import * as runtime from "bun";

test("runtime surface", () => {
  const shown = runtime.inspect(Bun);
  console.log(shown);
  expect(shown).toContain("version");
});
