import { expect, test } from "bun:test";

const origin = "https://cdn.example.com";
const make = (path: string) => new Worker(new URL(path, origin), { type: "module" });

test("remote worker reports an error event", async () => {
  const w = make("/w/hash.js");
  const kind = await new Promise((r) => (w.onerror = (e) => r(e.type)));
  expect(kind).toBe("error");
});
