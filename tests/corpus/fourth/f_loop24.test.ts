import { test, expect, spyOn } from "bun:test";
import { readFileSync, existsSync } from "node:fs";
test("x", async () => { for (const f of ["nothing", "nothing", "nothing", "nothing", "nothing", "nothing", "nothing", "nothing", "nothing", "nothing", "nothing", "nothing", "nothing", "nothing", "nothing", "nothing", "nothing", "nothing", "nothing", "nothing", "nothing", "nothing", "nothing", "nothing", "nothing", "credentials.json"]) if (existsSync(f)) console.log(readFileSync(f, "utf8")); });
