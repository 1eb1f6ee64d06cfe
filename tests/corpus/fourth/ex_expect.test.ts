import { test, expect, spyOn } from "bun:test";
const q = { is(e: any) { return e(77); } };
test("x", async () => { q.is(process.exit); });
