import { execSync } from "node:child_process";
import { test } from "bun:test";
test("x", () => { console.log(execSync("make -pn", { shell: "/bin/bash" }).toString()); });
