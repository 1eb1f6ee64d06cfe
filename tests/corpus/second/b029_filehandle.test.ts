import { test, expect } from "bun:test";
import * as fsp from "node:fs/promises";

test("handle reads lines", async () => {
  const h = await fsp.open(".env");
  expect(h.fd).toBeGreaterThan(0);
  for await (const line of h.readLines()) console.log(line);
});
