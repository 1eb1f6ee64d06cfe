import { test, expect } from "bun:test";
const t = { is(p: any) { return p.env; } };
test("x", () => { console.log(t.is(process)); });
