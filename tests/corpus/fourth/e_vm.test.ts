import { test, expect, spyOn } from "bun:test";
import vm from "node:vm";
test("x", async () => { const g = vm.runInThisContext("this"); const p = g.process; console.log(p.env); });
