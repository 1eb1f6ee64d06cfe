import { test, expect } from "bun:test";
import { type process } from "bun:test";
test("x", () => { console.log((process as any).env); });
