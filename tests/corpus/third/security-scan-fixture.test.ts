import { describe, expect, test } from "bun:test";

type Finding = { rule: string; line: number };

function scan(source: string): Finding[] {
  const rules: [string, RegExp][] = [
    ["no-eval", /\beval\s*\(/],
    ["no-new-func", /new\s+Function\s*\(/],
    ["no-exit", /process\.exit\s*\(/],
    ["no-secrets", /process\.env\.[A-Z_]*TOKEN/],
  ];
  return source.split("\n").flatMap((text, i) => rules.filter(([, re]) => re.test(text)).map(([rule]) => ({ rule, line: i + 1 })));
}

describe("scan", () => {
  test("finds each rule once", () => {
    const src = ["const a = eval(input);", "const f = new Function('a', body);", "process.exit(1);", "send(process.env.MY_TOKEN);"].join("\n");
    expect(scan(src)).toEqual([
      { rule: "no-eval", line: 1 },
      { rule: "no-new-func", line: 2 },
      { rule: "no-exit", line: 3 },
      { rule: "no-secrets", line: 4 },
    ]);
  });
  test("clean code has no findings", () => {
    expect(scan("export const add = (a, b) => a + b;")).toEqual([]);
  });
});
