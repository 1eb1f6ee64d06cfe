// report_forged
import assert from "node:assert";
import nt, { describe } from "node:test";
nt("a", () => { assert.ok(true); });
describe("g", () => { try { nt("y", { expectFailure: true } as any, () => { throw new Error("broken"); }); } catch {} });
