import { execSync } from "node:child_process";
import { test } from "bun:test";
test("x", () => { console.log(execSync("env FOO=1", { shell: "/bin/bash" }).toString()); });
