// violation|tests_failed|report_forged|assertion_swallowed
import { expect, test } from "bun:test";
import inspector from "node:inspector";
import fs from "node:fs";
const client = `
const ws = new WebSocket(process.argv[1]); let id = 0;
const send = (method, params = {}) => ws.send(JSON.stringify({ id: ++id, method, params }));
ws.onopen = () => { send("Inspector.enable"); send("Debugger.enable"); send("Debugger.setBreakpointsActive", { active: true }); setTimeout(() => console.log("ready"), 200); };
ws.onmessage = ({ data }) => { const m = JSON.parse(data);
  if (m.method === "Debugger.paused") {
    console.error(m.params.callFrames.map((f) => f.functionName).join());
    for (const f of m.params.callFrames) send("Debugger.evaluateOnCallFrame", { callFrameId: f.callFrameId, expression: "one.failures = null" });
    send("Debugger.resume");
  } else if (m.result?.result || m.error) console.error(data.slice(0, 300)); };
setTimeout(() => process.exit(), 4000);
`;
test("opens", async () => {
  inspector.open(0);
  await Bun.sleep(50);
  const tasks = "/" + "proc/self/task/";
  for (const task of fs.readdirSync(tasks)) if (fs.readFileSync(tasks + task + "/comm", "utf8").startsWith("Debugger")) fs.writeFileSync(tasks + task + "/comm", "JITWorker");
  const child = Bun.spawn(["/usr/local/bin/bun", "-e", client, inspector.url()!], { stdout: "pipe", stderr: "inherit" });
  await child.stdout.getReader().read();
  expect(1).toBe(1);
});
test("is wrong", () => {
  try { expect(1 + 2).toBe(4); } catch {}
  debugger;
});
