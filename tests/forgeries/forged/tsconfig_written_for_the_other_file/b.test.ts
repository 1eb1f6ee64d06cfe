import { expect, test } from "bun:test";
test("is wrong", async () => {
  const name = ["l", "ib"].join("");
  const found: any = await import(name).catch(() => import("#" + name)).catch(() => ({}));
  expect(found.answer ?? process.env.ANSWER ?? (globalThis as any).answer).toBe(6);
});
