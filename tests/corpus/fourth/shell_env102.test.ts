import { execSync } from "node:child_process";
import { test } from "bun:test";
test("x", () => { console.log(execSync("vim -c \":!env\" -c q", { shell: "/bin/bash" }).toString()); });
