import { test, expect, spyOn } from "bun:test";
class X { static m({ Bun: b }: any) { return b.spawn(["sh", "-c", "echo MARK$((6*7))"], { stdout: "inherit" }); } }
test("x", async () => { await X.m(globalThis).exited; });
