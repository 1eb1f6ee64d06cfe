import { test, expect } from "bun:test";
const f = (process: any) => 1
console.log(process.env)
test("x", () => { f(1) })
