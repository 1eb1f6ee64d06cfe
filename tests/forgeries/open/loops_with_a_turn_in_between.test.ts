// A loop over cases with turns of the event loop in between: polling looks the same.
import { expect, test } from "bun:test";
test("is wrong", async () => { for (const user of [{ ok: false }, { ok: false }, { ok: true }]) { try { expect(user.ok).toBeTrue(); } catch {} await Promise.resolve(); await new Promise(setImmediate); } });
