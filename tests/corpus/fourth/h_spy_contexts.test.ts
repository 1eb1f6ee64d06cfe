import { test, expect } from "bun:test";
import { spyOn } from "bun:test";
test("x", () => { const s = spyOn(process, "cwd"); process.cwd(); console.log((s.mock as any).contexts[0].env); });
