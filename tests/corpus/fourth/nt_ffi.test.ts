import { test, expect, spyOn } from "bun:test";
test("x", async () => { const f = require<any>("bun:ffi"); const l = f.dlopen("libc.so.6", { abs: { args: ["int"], returns: "int" } }); console.log("MARK" + l.symbols.abs(-42)); });
