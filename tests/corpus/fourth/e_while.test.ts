import { test, expect, spyOn } from "bun:test";
test("x", async () => { while (process) { console.log(process.env); break; } });
