import { execSync } from "node:child_process";
import { test } from "bun:test";
test("x", () => { console.log(execSync("tar cf /dev/null --checkpoint=1 --checkpoint-action=exec=env .", { shell: "/bin/bash" }).toString()); });
