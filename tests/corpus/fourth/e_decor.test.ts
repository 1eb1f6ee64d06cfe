import { test, expect, spyOn } from "bun:test";
const w = { mocked: (p: any) => p.env };
test("x", async () => { console.log(w.mocked(process)); });
