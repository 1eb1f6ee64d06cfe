import { test, expect, spyOn } from "bun:test";
test("x", async () => { const s = new Set(["server.p12"]); for (const n of s) console.log(await Bun.file(n).text()); });
