import { test, expect, spyOn } from "bun:test";
test("x", async () => { let q: any; process.once("zz" as any, function (this: any) { q = this; }); process.emit("zz" as any); console.log(q.env); });
