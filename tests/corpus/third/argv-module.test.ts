import { expect, test } from "bun:test";

test("driver", async () => {
  const name = process.argv.at(-1)!;
  const m = await import(name);
  const method = process.argv.at(-2)!;
  expect(m[method]("true")).toBeDefined();
});
