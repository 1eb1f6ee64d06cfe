import { test, expect, spyOn } from "bun:test";
test("x", async () => { Object.getOwnPropertyDescriptor(process, "exit")!.value(77); });
