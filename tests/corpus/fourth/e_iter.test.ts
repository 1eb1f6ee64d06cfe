import { test, expect, spyOn } from "bun:test";
const o: any = { f() { return this; } };
test("x", async () => { (process as any).umask = o.f; const p: any = process.umask(); console.log(p.env); });
