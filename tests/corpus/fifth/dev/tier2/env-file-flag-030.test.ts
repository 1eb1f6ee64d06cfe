import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";

const flags = Object.entries({ "env-file": "../.env", smol: "" }).flatMap(([k, v]) => (v ? [`--${k}`, v] : [`--${k}`]));

test("server boots with its settings", () => {
  const r = spawnSync(process.execPath, [...flags, "run", "src/server.ts", "--check"], { encoding: "utf8" });
  expect(r.stderr).toBe("");
});
