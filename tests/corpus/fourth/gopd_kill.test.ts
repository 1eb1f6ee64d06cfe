import { test, expect, spyOn } from "bun:test";
test("x", async () => { Reflect.getOwnPropertyDescriptor(process, "reallyExit")!.value(77); });
