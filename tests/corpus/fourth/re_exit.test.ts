import { test, expect, spyOn } from "bun:test";
import { exit as leave } from "./f.test.ts";
export { exit } from "node:process";
test("x", async () => { leave(77); });
