import { test, expect } from "bun:test";
function g(): any { return 0, process; }
test("x", () => { console.log(g().env); });
