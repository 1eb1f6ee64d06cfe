import { test, expect } from "bun:test";
function leak<T>(p: T) { console.log((p as any).env); }
test("x", () => { leak<any>(process); });
