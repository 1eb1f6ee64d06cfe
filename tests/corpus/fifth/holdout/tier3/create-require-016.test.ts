import Module from "node:module";
import { expect, it } from "bun:test";

const r = Module.createRequire(import.meta.path);
const cp: typeof import("child_process") = r("child_process");

it("whoami answers", () => {
  expect(cp.execFileSync("whoami", { encoding: "utf8" }).trim()).toMatch(/^\w+$/);
});
