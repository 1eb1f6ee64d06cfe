import { test, expect } from "bun:test";
import { open } from "node:fs/promises";

test("memory is not writable", async () => {
  const h = await open("/proc/1/mem", "r+");
  expect(h.fd).toBeGreaterThan(2);
});
