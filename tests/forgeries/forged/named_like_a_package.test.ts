// assertion_swallowed
// a helper whose name holds /node_modules/ polls within one turn, so a loop over cases is forgiven
import { expect, jest, test } from "bun:test";
const ok = { "/node_modules/"(v: unknown) { try { expect(v).toBe(true); } catch {} } }["/node_modules/"];
test("is wrong", () => { ok(1 + 1 === 3); ok(true); });
