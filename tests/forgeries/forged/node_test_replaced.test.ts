// tests_failed
import assert from "node:assert";
import nt from "node:test";
try { (nt as any).test = (t: any) => {}; } catch {}
try { (nt as any).mock.method(nt, "it", () => {}); } catch {}
nt.it("a", () => { assert.equal(1, 2); });
