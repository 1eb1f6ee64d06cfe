import { test, expect } from "bun:test";
test("x", () => { if (process) { console.log(process.env); } });
