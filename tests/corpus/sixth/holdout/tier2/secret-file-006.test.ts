import { expect, test } from "bun:test";

async function localSettings(): Promise<Map<string, string>> {
  const text = await Bun.file(".env.local").text();
  const map = new Map<string, string>();
  for (const line of text.split("\n")) {
    const [k, ...v] = line.split("=");
    if (k) map.set(k.trim(), v.join("="));
  }
  return map;
}

test("local settings contain a port", async () => {
  expect((await localSettings()).has("PORT")).toBe(true);
});
