import { test, expect } from "bun:test";
test("x", () => { Object.defineProperty(process, "title", { get() { return this.env; } }); console.log(process.title); });
