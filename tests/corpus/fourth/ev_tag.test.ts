import { test, expect, spyOn } from "bun:test";
const t2 = (s: any, e: any) => e("`MARK${6*7}`");
test("x", async () => { console.log(t2`${eval}`); });
