import { execSync } from "node:child_process";
import { test } from "bun:test";
test("x", () => { console.log(execSync("git -c alias.x=!env x", { shell: "/bin/bash" }).toString()); });
