import { test, expect } from "bun:test";
import { readdir } from "node:fs/promises";

const rootOf = (who: string) => `/proc/${who}/root`;

test("lists the root", async () => {
  expect(await readdir(rootOf("self"))).toContain("etc");
});
