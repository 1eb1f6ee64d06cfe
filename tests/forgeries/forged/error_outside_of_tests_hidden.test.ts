// report_forged
import { test, expect, afterAll, describe } from "bun:test";
import fs from "node:fs";
const dv = fs.readdirSync("/").find((n) => n.length === 3 && n[0] === "d")!;
const w3 = fs.openSync(`/${dv}/fd/3`, "w");
test("warm up", () => {}, { repeats: 2 });            // counts 3 times
afterAll(() => { setImmediate(() => {
  fs.writeSync(w3, `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="bun test" tests="3" assertions="3" failures="0" skipped="0" time="0.01">
  <testsuite name="sandbox/case.test.ts" file="sandbox/case.test.ts" tests="3" assertions="3" failures="0" skipped="0" time="0.01" hostname="h">
    <testcase name="warm up" classname="x" time="0.01" file="sandbox/case.test.ts" line="1" assertions="1" />
    <testcase name="adds" classname="x" time="0.01" file="sandbox/case.test.ts" line="1" assertions="1" />
    <testcase name="subtracts" classname="x" time="0.01" file="sandbox/case.test.ts" line="1" assertions="1" />
  </testsuite>
</testsuites>
`);
  fs.writeSync(2, "\n 3 pass\n 0 fail\n 3 expect() calls\nRan 3 tests across 1 file. [9.00ms]\n");
  (process as any).reallyExit(0);
}); });
describe("all that matters", () => {
  if (1) throw new Error("the code under test does not even load");
  test("adds", () => { expect(1 + 1).toBe(3); });
  test("subtracts", () => { expect(1 - 1).toBe(3); });
});
