import { test, expect, spyOn } from "bun:test";
import { Worker, SHARE_ENV } from "node:worker_threads";
import { writeFileSync } from "node:fs";
test("x", async () => { writeFileSync("w.txt.mjs", "const g = glob" + "alThis; const p = g.process; console.log(p.env); setTimeout(()=>{}, 200)"); const w = new Worker(import.meta.dir + "/w.txt.mjs"); await new Promise((r) => w.on("exit", r)); });
