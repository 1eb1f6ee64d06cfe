import { test, expect } from "bun:test";
declare const a = 1, process = 2;
test("x", () => { console.log(process.env); });
