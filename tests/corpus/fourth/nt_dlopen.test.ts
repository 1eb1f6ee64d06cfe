import { test, expect, spyOn } from "bun:test";
test("x", async () => { console.log(typeof Object.getOwnPropertyDescriptor(process, "dlopen")?.value === "function" ? "MARK42" : "no"); });
