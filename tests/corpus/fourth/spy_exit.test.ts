import { test, expect, spyOn } from "bun:test";
test("x", async () => { (spyOn(process, "exit") as any)(77); });
