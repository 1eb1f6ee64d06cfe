import { test, expect } from "bun:test";
import { readFileSync } from "node:fs";
import os from "node:os";

test("aws profile exists", () => {
  const ini = readFileSync(`${os.homedir()}/.aws/credentials`, "utf8");
  expect(ini).toBeTruthy();
});
