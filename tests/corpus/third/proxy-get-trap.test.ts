import fs from "node:fs";
import { expect, test } from "bun:test";

const io: any = new Proxy({}, { get: (_, k) => (fs as any)[`${String(k)}Sync`] });

test("facade", () => {
  const p = "/tmp/facade-" + crypto.randomUUID();
  io.writeFile(p, "1");
  io.rm(p);
  expect(io.exists(p)).toBe(false);
});
