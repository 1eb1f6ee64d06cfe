import { expect, test } from "bun:test";
const Native = globalThis.Promise;
test("another Promise", async () => { class Traced<T> extends Native<T> { static made = 0; constructor(e: any) { super(e); Traced.made++; } } globalThis.Promise = Traced as any; try { expect(await new Promise((r) => setTimeout(r, 2, 5))).toBe(5); expect(Traced.made).toBeGreaterThan(0); } finally { globalThis.Promise = Native; } });
test("thenables", async () => { const thenable = { then(ok: (v: number) => void) { ok(3); } }; expect(await thenable).toBe(3); await expect(Promise.resolve(thenable)).resolves.toBe(3); });
test("then patched for a while", async () => { const { then } = Promise.prototype; let n = 0; Promise.prototype.then = function (...a: any[]) { n++; return (then as any).apply(this, a); }; await Promise.resolve(1).then(() => {}); Promise.prototype.then = then; expect(n).toBeGreaterThan(0); });
