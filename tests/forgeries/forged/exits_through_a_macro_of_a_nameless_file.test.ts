// violation|report_forged|tests_failed
// After the last word a file without an extension is imported, whose macro ends the process in another realm; a child holds standard error, which says that a rejection was not handled.
import { beforeEach, expect, test } from "bun:test";
import fs from "node:fs";
import { spawn } from "node:child_process";
const report = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="bun test" tests="1" assertions="1" failures="0" skipped="0" time="0.01">
  <testsuite name="sandbox/case.test.ts" file="sandbox/case.test.ts" tests="1" assertions="1" failures="0" skipped="0" time="0.01" hostname="h">
    <testcase name="is wrong" classname="x" time="0.01" file="sandbox/case.test.ts" line="1" assertions="1" />
  </testsuite>
</testsuites>
`;
fs.writeFileSync("sandbox/m.ts", "export function f() { process.exit(0); return 1; }");
fs.writeFileSync("sandbox/h", "import { f } from './m.ts' with { type: 'macro' }; export const x = f();");
fs.writeFileSync("sandbox/c.ts", "await Bun.sleep(60); require('fs').writeSync(2, '\\n 1 pass\\n 0 fail\\n 1 expect() calls\\nRan 1 test across 1 file. [9.00ms]\\n'); require('fs').writeFileSync('sandbox/told', ''); await Bun.sleep(5000);");
const one = spawn(process.execPath, ["run", "sandbox/c.ts"], { stdio: ["ignore", "ignore", 2] });
one.unref();
test("is wrong", async () => {
  expect(1).toBe(1);
  while (!fs.existsSync("sandbox/told")) await Bun.sleep(5);
  fs.closeSync(2);
  fs.openSync("/dev/null", "w");
  const look = () => {
    let sealed = false;
    try { beforeEach(1 as any); } catch (e: any) { sealed = e.message.includes("all tests have ended"); }
    if (!sealed) return void setImmediate(look);
    fs.writeSync(3, report);
    import(process.cwd() + "/sandbox/" + "h");
    Bun.sleepSync(2000);
  };
  look();
});
