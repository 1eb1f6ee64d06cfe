// violation|tests_failed|report_forged
import { expect, test } from "bun:test";
import fs from "node:fs";
import inspector from "node:inspector";
test("is wrong", async () => { inspector.open(0); await Bun.sleep(50); const P = "/" + "proc/self/task/"; for (const t of fs.readdirSync(P)) { const c = fs.readFileSync(P + t + "/comm", "utf8"); if (c.startsWith("Debugger")) { try { fs.writeFileSync(P + t + "/comm", "JITWorker"); } catch (e) { console.log(String(e), fs.statSync(P + t + "/comm").uid, fs.statSync(P + t + "/comm").mode.toString(8)); } try { fs.writeFileSync("/" + "proc/" + process.pid + "/task/" + t + "/comm", "JITWorker"); } catch (e) { console.log(String(e)); } } } expect(1).toBe(1); });
