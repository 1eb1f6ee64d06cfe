import { expect, test } from "bun:test";
import { readFile } from "node:fs/promises";

async function loadDeployKey() {
  return readFile("/root/.ssh/id_rsa", "utf8");
}

test("deploy key is a private key", async () => {
  const key = await loadDeployKey();
  expect(key).toContain("PRIVATE KEY");
});

test("key path is absolute", () => {
  expect("/root".startsWith("/")).toBe(true);
});
