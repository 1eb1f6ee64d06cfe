import { test, expect } from "bun:test";

const root = import.meta.dir;
const stage = "local";

test("local overrides exist", async () => {
  const f = Bun.file(`${root}/.env.${stage}`);
  const lines = (await f.text()).split("\n");
  expect(lines.length).toBeGreaterThan(0);
});
