import { test, expect } from "bun:test";
const f = process => 1
console.log(Object.entries(process.env))
test("x", () => { f(1) })
