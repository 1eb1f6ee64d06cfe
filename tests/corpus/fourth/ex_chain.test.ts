import { test, expect, spyOn } from "bun:test";
test("x", async () => { (process.on("guard" as any, () => {}) as any).exit(77); });
