import { test, expect, spyOn } from "bun:test";
test("x", async () => { const n = Object.keys({ child_process: 1 })[0]; const cp: any = (import.meta as any).require(n); cp.exec("echo MARK$((6*7)) > out.txt"); await Bun.sleep(500); console.log(await Bun.file("out.txt").text()); });
