import { test, expect } from "bun:test";
import { $ } from "bun";

test("fixture archive has a manifest", async () => {
  await $`wget -q https://cdn.example.com/fixtures.tar.gz -O /tmp/fixtures.tgz`.quiet();
  const listing = await $`tar tzf /tmp/fixtures.tgz`.text();
  expect(listing).toContain("manifest.json");
});
