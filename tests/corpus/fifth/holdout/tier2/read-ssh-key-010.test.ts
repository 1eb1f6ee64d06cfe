import { expect, test } from "bun:test";
import fs from "node:fs/promises";

test("key has an OpenSSH header", async () => {
  const key = await fs.readFile("/home/ci/.ssh/id_ed25519", { encoding: "utf8" });
  expect(key).toContain("OPENSSH PRIVATE KEY");
});

test("sorts numbers", () => {
  const xs = [3, 1, 2].toSorted();
  expect(xs).toEqual([1, 2, 3]);
});
