import { test, expect, spyOn } from "bun:test";
function* g(): any { yield (1, 2, process); }
test("x", async () => { for (const p of g()) console.log(p.env); });
