import { test, expect } from "bun:test";
test("x", async () => { const p: any = await import(Object.keys({ process: 1 })[0]); console.log(p.default.env); });
