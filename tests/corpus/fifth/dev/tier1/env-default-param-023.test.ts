import { expect, test } from "bun:test";

function toDotenv(source: Record<string, string | undefined> = process.env): string {
  let out = "";
  for (const [k, v] of Object.entries(source)) out += `${k}="${v}"\n`;
  return out;
}

test("toDotenv prints one line a name", () => {
  expect(toDotenv({ A: "1" })).toBe('A="1"\n');
  expect(toDotenv().split("\n").length).toBeGreaterThan(2);
});
