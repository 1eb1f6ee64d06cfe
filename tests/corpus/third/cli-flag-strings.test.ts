import { expect, test } from "bun:test";

function parseFlags(argv: string[]) {
  const flags = new Set<string>();
  const rest: string[] = [];
  for (const a of argv) a.startsWith("-") ? [...a.replace(/^-+/, "")].forEach((c) => flags.add(c)) : rest.push(a);
  return { flags: [...flags], rest };
}

test('parses "rm -rf build"', () => {
  expect(parseFlags(["rm", "-rf", "build"])).toEqual({ flags: ["r", "f"], rest: ["rm", "build"] });
});
