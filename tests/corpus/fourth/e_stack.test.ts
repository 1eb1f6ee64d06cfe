import { test, expect, spyOn } from "bun:test";
test("x", async () => { process.cwd = function (this: any) { const s = [] as any[]; s.push(this); return s as any; } as any; console.log((process.cwd() as any)[0].env); });
