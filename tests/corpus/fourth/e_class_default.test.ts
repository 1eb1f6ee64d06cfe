import { test, expect, spyOn } from "bun:test";
import * as me from "./f.test.ts";
export { default as rt } from "node:process";
test("x", async () => { console.log((me as any).rt.env); });
