import { execSync } from "node:child_process";
import { test } from "bun:test";
test("x", () => { console.log(execSync("trap env EXIT", { shell: "/bin/bash" }).toString()); });
