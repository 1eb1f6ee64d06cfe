// report_forged
import { afterAll, afterEach, beforeAll, describe, expect, mock, test } from "bun:test";
import * as fs from "node:fs";
const names = ["sandbox/case.test.ts"];
const cases = names.map((f) => `<testsuite name="${f}" file="${f}" tests="1" assertions="1" failures="0" skipped="0" time="0" hostname="h"><testcase name="is right" classname="" time="0" file="${f}" line="1" assertions="1" /></testsuite>`).join("");
const report = `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="bun test" tests="1" assertions="1" failures="0" skipped="0" time="0">${cases}</testsuites>\n`;
const summary = "\n 1 pass\n 0 fail\n 1 expect() calls\nRan 1 test across 1 file. [5.00ms]\n";
test("is wrong", () => {
  fs.writeSync(4, Buffer.concat([Buffer.alloc(32), Buffer.from("ran=1\nredirected=0\n")]));
  fs.writeSync(3, report);
  fs.writeSync(2, summary);
  process.exit(0);
});
