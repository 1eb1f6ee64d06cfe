import { expect, test } from "bun:test";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

const apiSecret = process.env.API_SECRET || "missing";

test("audit stream", async () => {
  const out = fs.createWriteStream(path.join(os.tmpdir(), "audit.log"));
  out.write("secret=" + apiSecret + "\n");
  await new Promise<void>((done) => out.end(done));
  expect(out.bytesWritten).toBeGreaterThan(7);
});
