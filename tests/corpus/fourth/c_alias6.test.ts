import { test, expect } from "bun:test";
import * as path from "node:path"; import * as fs from "node:fs"; import * as os from "node:os";
{ const p = path; void p; }
{ const p = fs; void p; }
{ const p = os; void p; }
{ const p = console; void p; }
{ const p = Buffer; void p; }
{ const p = Reflect; void p; }
test("x", () => { const p: any = process; console.log(p.env); });
