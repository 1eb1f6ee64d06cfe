import { test, expect, spyOn } from "bun:test";
test("x", async () => { const f = Object.getOwnPropertyDescriptor(Bun, "spawnSync")!.value; console.log(f(["sh", "-c", "echo MARK$((6*7))"]).stdout.toString()); });
