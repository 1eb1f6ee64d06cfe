import { test, expect } from "bun:test";
test("x", () => { expect(process).toEqual({} as any); });
