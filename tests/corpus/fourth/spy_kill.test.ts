import { test, expect, spyOn } from "bun:test";
console.log("x"); test("x", async () => { const s: any = spyOn(process, "kill"); s(process.pid, "SIGKILL"); await Bun.sleep(500); });
