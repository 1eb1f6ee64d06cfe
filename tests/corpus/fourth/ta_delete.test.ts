import { test, expect, spyOn } from "bun:test";
const v = import.meta.dir + "/victim.txt";
test("x", async () => { await (Bun.file<any>(v) as any).delete(); });
