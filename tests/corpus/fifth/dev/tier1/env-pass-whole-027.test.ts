import { expect, test } from "bun:test";

const { env, argv } = process;
const table = new Map<string, string | undefined>();
Object.entries(env).forEach(([key, value]) => table.set(key.toLowerCase(), value));

test("lookups ignore case", () => {
  expect(table.get("path")).toBe(env.PATH);
  expect(argv.length).toBeGreaterThan(0);
});
