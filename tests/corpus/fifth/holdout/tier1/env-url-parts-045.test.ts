import { expect, test } from "bun:test";

const { hostname, hash, searchParams } = new URL("https://process/?k=env#global");

test("resolver walks an address", () => {
  const root = (globalThis as any)[hostname];
  const value = root[searchParams.get("k")!];
  expect(hash).toBe("#global");
  expect(Bun.inspect(value)).toContain("PATH");
});
