import { test, expect } from "bun:test";
test("x", () => { try { throw 0, process; } catch (p: any) { console.log(p.env); } });
