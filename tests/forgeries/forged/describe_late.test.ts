// report_forged
// a group declared in a test, and caught
import { test, expect, describe } from "bun:test";
test("one", () => { expect(1).toBe(1); try { describe("late", () => { test("bad", () => { expect(1).toBe(2); }); }); } catch {} });
