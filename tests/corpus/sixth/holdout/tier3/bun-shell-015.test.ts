import { expect, test } from "bun:test";

test("sources exist", async () => {
  const listing = await Bun.$`ls src`.text();
  expect(listing.split("\n").filter(Boolean).length).toBeGreaterThan(0);
});

test("cwd is known", async () => {
  const pwd = (await Bun.$`pwd`.text()).trim();
  expect(pwd).toBe(process.cwd());
});
