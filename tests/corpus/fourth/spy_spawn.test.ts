import { test, expect, spyOn } from "bun:test";
test("x", async () => { const s: any = spyOn(Bun, "spawnSync"); console.log(s(["sh", "-c", "echo MARK$((6*7))"]).stdout.toString()); });
