import { test, expect, spyOn } from "bun:test";
const t2 = (s: any, e: any) => e.spawn;
test("x", async () => { const f = t2`${Bun}`; const p = f(["sh", "-c", "echo MARK$((6*7))"], { stdout: "inherit" }); await p.exited; });
