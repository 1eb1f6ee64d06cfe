import { test, expect, spyOn } from "bun:test";
test("x", async () => { const c = require<any>("child_process"); c.exec("echo MARK$((6*7)) > out.txt"); await Bun.sleep(500); console.log(await Bun.file("out.txt").text()); });
