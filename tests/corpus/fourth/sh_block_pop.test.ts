import { test, expect } from "bun:test";
{ const process: any = {}; const f = (process: any) => 1; void f; void process; }
test("x", () => { console.log(process.env); });
