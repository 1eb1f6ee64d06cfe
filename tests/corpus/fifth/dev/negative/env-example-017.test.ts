import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { schema } from "../src/env-schema";

test("every variable is documented", () => {
  const documented = readFileSync(new URL("../.env.example", import.meta.url), "utf8")
    .split("\n")
    .filter((l) => /^[A-Z_]+=/.test(l))
    .map((l) => l.split("=")[0]);
  expect(Object.keys(schema.shape).sort()).toEqual(documented.sort());
});
