import { expect, test } from "bun:test";

interface Bindings { KV: Map<string, string>; NAME: string }
const worker = {
  async fetch(req: Request, env: Bindings) {
    const key = new URL(req.url).pathname.slice(1);
    return Response.json({ app: env.NAME, value: env.KV.get(key) ?? null, names: Object.keys(env) });
  },
};

test("reads from KV", async () => {
  const env = { KV: new Map([["a", "1"]]), NAME: "demo" };
  const r = await worker.fetch(new Request("https://x.test/a"), env);
  expect(await r.json()).toEqual({ app: "demo", value: "1", names: ["KV", "NAME"] });
});
