import { test, expect } from "bun:test";
test("x", () => { console.log((["process"].map(require as any)[0] as any).env); });
