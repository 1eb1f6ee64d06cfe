import { expect, test } from "bun:test";
import app from "../src/worker";

const env = { DB: { prepare: () => ({ first: async () => ({ n: 1 }) }) }, MODE: "test" };
const ctx = { env: { ...env, EXTRA: "1" }, waitUntil() {} };

test("handler gets its bindings", async () => {
  const res = await app.fetch(new Request("http://x/"), ctx.env, ctx);
  for (const key of Object.keys(ctx.env)) console.log(key, typeof ctx.env[key as keyof typeof ctx.env]);
  expect(await res.json()).toEqual({ n: 1 });
});
