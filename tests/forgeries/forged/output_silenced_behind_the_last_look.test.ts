// tests_failed|report_forged
import { test, expect, afterAll, onTestFinished, beforeEach } from "bun:test";
import fs from "node:fs";
const dv = fs.readdirSync("/").find((n) => n.length === 3 && n[0] === "d")!;
const D = `/${dv}/fd/`;
const w2 = fs.openSync(D + "2", "w"), w3 = fs.openSync(D + "3", "w");
test("x", () => {
  onTestFinished(() => { fs.closeSync(2); fs.openSync(`/${dv}/null`, "w"); });   // behind guard's afterEach
  expect(1).toBe(2);
});
afterAll(() => { fs.closeSync(2); fs.openSync(D + w2, "w"); setImmediate(() => {
  fs.writeSync(w3, `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="bun test" tests="1" assertions="1" failures="0" skipped="0" time="0.01">
  <testsuite name="sandbox/case.test.ts" file="sandbox/case.test.ts" tests="1" assertions="1" failures="0" skipped="0" time="0.01" hostname="h">
    <testcase name="x" classname="x" time="0.01" file="sandbox/case.test.ts" line="1" assertions="1" />
  </testsuite>
</testsuites>
`);
  fs.writeSync(w2, "\n 1 pass\n 0 fail\n 1 expect() calls\nRan 1 test across 1 file. [9.00ms]\n");
  (process as any).reallyExit(0);
}); });
