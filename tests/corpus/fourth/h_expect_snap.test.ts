import { test, expect } from "bun:test";
test("x", () => { expect(process).toMatchObject({ env: {} , pid: -1} as any); });
