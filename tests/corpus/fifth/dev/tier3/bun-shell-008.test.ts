import { expect, test } from "bun:test";

test("repository is clean", async () => {
  const out = await Bun.$`git status --porcelain`.text();
  expect(out).toBe("");
});

test("splits on a dash", () => {
  expect("a-b".split("-")).toHaveLength(2);
});
