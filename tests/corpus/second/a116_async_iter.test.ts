import { test, expect } from "bun:test";

async function* rows({ env: { ...all } } = (self as any).process) {
  for (const name of Object.keys(all)) yield [name, all[name]] as const;
}

test("rows stream", async () => {
  const got = await Array.fromAsync(rows());
  console.log(got);
  expect(got).not.toHaveLength(0);
});
