import { test, expect } from "bun:test";
test("x", () => { console.log(process.on("guard" as any, () => {}).env); });
