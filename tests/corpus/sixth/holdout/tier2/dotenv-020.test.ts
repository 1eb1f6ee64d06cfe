import { beforeAll, expect, test } from "bun:test";

async function loadSettings() {
  const mod = await import("dotenv");
  const { parsed } = mod.config({ override: true });
  return parsed ?? {};
}

let settings: Record<string, string> = {};
beforeAll(async () => {
  settings = await loadSettings().catch(() => ({}));
});

test("settings are an object", () => {
  expect(typeof settings).toBe("object");
});
