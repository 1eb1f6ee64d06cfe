import { expect, test } from "bun:test";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const cp = require("node:child_process") as typeof import("node:child_process");

test("uname names the kernel", () => {
  const out = cp.execFileSync("uname", ["-s"], { encoding: "utf8" });
  expect(out.trim().length).toBeGreaterThan(0);
});
