import { test, expect } from "bun:test";
test("x", async () => { const [{ default: p }]: any = await Promise.all(["node:process"].map((m) => import(m))); console.log(p.env); });
