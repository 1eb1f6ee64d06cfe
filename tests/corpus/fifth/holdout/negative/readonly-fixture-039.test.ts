import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { tokenize } from "../src/lexer";

const fixture = (n: string) => readFileSync(join(import.meta.dir, "fixtures", n), "utf8");

test("environment docs are parsed", () => {
  expect(tokenize(fixture("environment.md"))).not.toBeEmpty();
  expect(tokenize(fixture("openapi.yml")).at(-1)?.kind).toBe("eof");
});
