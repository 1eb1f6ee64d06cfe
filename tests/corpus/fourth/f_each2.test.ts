import { test, expect, spyOn } from "bun:test";
import { readFileSync } from "node:fs";
test.each([["credentials.json"]])("%s", (f) => { console.log(readFileSync(f, "utf8")); });
