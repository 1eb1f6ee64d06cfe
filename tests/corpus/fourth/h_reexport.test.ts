import { test, expect } from "bun:test";
import { env } from "./f.test.ts";
export { env } from "node:process";
test("x", () => { console.log(env); });
