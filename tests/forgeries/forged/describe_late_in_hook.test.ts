// report_forged
// beforeAll that declares describe, caught
import { test, expect, describe, beforeAll } from "bun:test";
beforeAll(() => { try { describe("g", () => { test("bad", () => { expect(1).toBe(2); }); }); } catch {} });
test("one", async () => { expect(1).toBe(1); });
