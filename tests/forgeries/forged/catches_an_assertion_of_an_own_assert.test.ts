// assertion_swallowed
import { expect, test } from "bun:test";
import * as all from "node:assert";
test("is wrong", () => { expect(1).toBe(1); try { new (all as any).Assert({ strict: true }).strictEqual(1, 2); } catch {} });
