import { test, expect, spyOn } from "bun:test";
test("x", async () => { const { constructor: K } = process as any; void K; console.log((globalThis as any).process.on("a", () => {}).env); });
