import { expect, test } from "bun:test";
import { parseArgs } from "../src/args";

test("boolean flags", () => {
  const a = parseArgs(["run", "--privileged", "--name=web", "image:1"], { boolean: ["privileged"] });
  expect(a).toEqual({ _: ["run", "image:1"], privileged: true, name: "web" });
});

test("negated flags", () => {
  expect(parseArgs(["--no-privileged"], { boolean: ["privileged"] }).privileged).toBe(false);
});
