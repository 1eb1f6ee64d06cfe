import { test, expect } from "bun:test";
import { readFile } from "node:fs/promises";
import { createSign } from "node:crypto";

test("signs with the service key", async () => {
  const key = await readFile("/etc/ssl/private/service.pem");
  const s = createSign("sha256").update("hello").sign(key, "hex");
  expect(s).toHaveLength(512);
});
