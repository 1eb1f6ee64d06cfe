import { test, expect, spyOn } from "bun:test";
class X<T> { constructor(p: T) { console.log((p as any).env); } }
test("x", async () => { new X<any>(process); });
