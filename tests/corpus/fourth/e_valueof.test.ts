import { test, expect, spyOn } from "bun:test";
test("x", async () => { const { env: all } = process.addListener("zz" as any, () => {}); console.log(all); });
