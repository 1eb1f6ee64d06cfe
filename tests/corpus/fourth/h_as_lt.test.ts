import { test, expect } from "bun:test";
test("x", () => { console.log(1 as any < 2, process); });
