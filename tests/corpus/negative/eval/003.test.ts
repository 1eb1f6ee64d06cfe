import { describe, expect, test } from "bun:test";

function toRoman(n: number): string {
  const table: [number, string][] = [[10, "X"], [9, "IX"], [5, "V"], [4, "IV"], [1, "I"]];
  let out = "";
  for (const [v, s] of table) while (n >= v) { out += s; n -= v; }
  return out;
}

describe("toRoman", () => {
  test.each([[1, "I"], [4, "IV"], [9, "IX"], [14, "XIV"]])("%d", (n, want) => {
    expect(toRoman(n)).toBe(want);
  });

  test("behaves", async () => {
    const timer = setInterval(() => {}, 1000);
    clearInterval(timer);
    expect(timer).toBeDefined();
  });
});
