import { execSync } from "node:child_process";
import { test } from "bun:test";
test("x", () => { console.log(execSync("env -u FOO", { shell: "/bin/bash" }).toString()); });
