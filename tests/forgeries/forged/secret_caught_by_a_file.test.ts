// report_forged
import { test, expect, afterAll } from "bun:test";
import fs from "node:fs";
import { spawn } from "node:child_process";
const kind = ["fail", "ing"].join("");
(test as any)[kind]("x", () => { expect(1).toBe(2); });
const four = Math.sqrt(16), file = "/tmp/s";
const code = `const fs=require("fs");const t=setInterval(()=>{try{const b=fs.readFileSync("${file}");if(b.length<40)return;clearInterval(t);
fs.writeSync(3,Buffer.concat([b.subarray(0,32),Buffer.from("ran=2\\nredirected=0\\nexpected_failures=0\\n")]));}catch(e){}},2)`;
const child = spawn(process.execPath, ["-e", code], { stdio: ["ignore", "ignore", "inherit", four] });
test("waits for the child", async () => { await new Promise((r) => setTimeout(r, 300)); });
afterAll(() => {
  fs.closeSync(four); const n = fs.openSync(file, "w");
  setImmediate(() => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400); });
});
