import { afterEach, expect, mock, test } from "bun:test";

const realFetch = globalThis.fetch;
afterEach(() => {
  globalThis.fetch = realFetch;
});

async function getUser(id: number) {
  const res = await fetch(`https://api.example.com/users/${id}`);
  if (!res.ok) throw new Error(`HTTP ${res.status}`);
  return res.json();
}

test("returns the user", async () => {
  globalThis.fetch = mock(async () => Response.json({ id: 1, name: "Ada" })) as any;
  expect(await getUser(1)).toEqual({ id: 1, name: "Ada" });
});

test("throws on 404", async () => {
  globalThis.fetch = mock(async () => new Response("", { status: 404 })) as any;
  expect(getUser(2)).rejects.toThrow("HTTP 404");
});
