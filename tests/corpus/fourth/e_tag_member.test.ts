import { test, expect, spyOn } from "bun:test";
const tg = (s: any, g: any) => { const { process: p } = g; return p.env; };
test("x", async () => { console.log(tg`${globalThis}`); });
