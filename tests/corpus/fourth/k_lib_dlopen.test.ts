import { test, expect, spyOn } from "bun:test";
test("x", async () => { try { Object.getOwnPropertyDescriptor(process, "dlopen")!.value({ exports: {} }, "/lib/x86_64-linux-gnu/libm.so.6"); } catch (e) { console.log("MARK42", String(e)); } });
