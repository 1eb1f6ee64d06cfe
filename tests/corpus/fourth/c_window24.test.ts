import { test, expect } from "bun:test";
import * as path from "node:path";
{ const p = path; void p; }
test("x", () => { const p = process; console.log((p as { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8, i: 9, j: 10, env: any } as any).env); });
