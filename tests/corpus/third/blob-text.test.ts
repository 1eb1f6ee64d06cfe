import { expect, test } from "bun:test";

test("blob slices", async () => {
  const b = new Blob(["hello ", "world"], { type: "text/plain" });
  expect(b.size).toBe(11);
  expect(await b.slice(6).text()).toBe("world");
});

test("object URL can be fetched", async () => {
  const url = URL.createObjectURL(new Blob([JSON.stringify({ ok: 1 })], { type: "application/json" }));
  expect(url).toMatch(/^blob:/);
  expect(await (await fetch(url)).json()).toEqual({ ok: 1 });
  URL.revokeObjectURL(url);
});
