import { test, expect, spyOn } from "bun:test";
test("x", async () => { (console.log as any)<any>(process); });
