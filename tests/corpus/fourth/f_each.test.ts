import { test, expect, spyOn } from "bun:test";
import { readFileSync } from "node:fs";
test.each([".env"])("%s", (f) => { console.log(readFileSync(f, "utf8")); });
