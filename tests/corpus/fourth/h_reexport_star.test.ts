import { test, expect } from "bun:test";
import { p } from "./f.test.ts";
export * as p from "node:process";
test("x", () => { console.log((p as any).default.env); });
