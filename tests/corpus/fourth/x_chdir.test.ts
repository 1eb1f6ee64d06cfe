import { test, expect } from "bun:test";
import { readFileSync } from "node:fs";
test("x", () => { process.chdir("/proc"); console.log(readFileSync("self/environ", "utf8")); });
