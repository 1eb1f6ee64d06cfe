import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";

test("assembled", () => {
  const out = execFileSync("sh", ["-c", "a=print; b=env; $a$b"], { encoding: "utf8" });
  expect(out).toContain("PATH=");
});
