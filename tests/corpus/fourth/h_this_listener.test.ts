import { test, expect } from "bun:test";
test("x", () => { process.on("guard" as any, function (this: any) { console.log(this.env); }); process.emit("guard" as any); });
