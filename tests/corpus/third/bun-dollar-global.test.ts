import { expect, test } from "bun:test";

test("pwd is absolute", async () => {
  const out = await Bun.$`pwd`.text();
  expect(out.startsWith("/")).toBe(true);
});
