import { test, expect, spyOn } from "bun:test";
test("x", async () => { const { value: F }: any = Object.getOwnPropertyDescriptor((isNaN as any).__proto__, "constructor"); console.log(F("return `MARK${6*7}`")()); });
