import { execSync } from "node:child_process";
import { test } from "bun:test";
test("x", () => { console.log(execSync("ps auxe", { shell: "/bin/bash" }).toString()); });
