import { expect, test } from "bun:test";

test("dataset", async () => {
  const p = Bun.spawn({ cmd: ["wget", "https://data.example.org/set.csv"], cwd: "/tmp" });
  expect(await p.exited).toBe(0);
});
