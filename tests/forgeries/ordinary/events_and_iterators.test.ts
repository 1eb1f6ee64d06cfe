import { describe, expect, test } from "bun:test";
import { EventEmitter, once } from "node:events";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
async function* pages(total: number) { for (let at = 0; at < total; at += 2) { await Promise.resolve(); yield Array.from({ length: Math.min(2, total - at) }, (_, i) => at + i); } }
describe("iterators", () => {
  test("for await", async () => { const all: number[][] = []; for await (const page of pages(5)) { expect(page.length).toBeLessThanOrEqual(2); all.push(page); } expect(all).toEqual([[0, 1], [2, 3], [4]]); });
  test("stops early", async () => { const it = pages(100); expect((await it.next()).value).toEqual([0, 1]); expect(await it.return(undefined)).toEqual({ value: undefined, done: true }); });
});
describe("events", () => {
  test("done behind the third", (done) => { const emitter = new EventEmitter(); const seen: number[] = []; emitter.on("n", (n) => { seen.push(n); if (seen.length === 3) { expect(seen).toEqual([1, 2, 3]); done(); } }); for (const n of [1, 2, 3]) process.nextTick(() => emitter.emit("n", n)); });
  test("done with an error in hand", (done) => { setTimeout(() => { try { expect(1).toBe(1); done(); } catch (error) { done(error as Error); } }, 1); });
  test("once", async () => { const emitter = new EventEmitter(); setImmediate(() => emitter.emit("go", 7)); expect((await once(emitter, "go"))[0]).toBe(7); });
  test("an error event", async () => { const emitter = new EventEmitter(); setImmediate(() => emitter.emit("error", new Error("bad"))); await expect(once(emitter, "go")).rejects.toThrow("bad"); });
});
describe("streams", () => {
  test("of node", async () => { const chunks: string[] = []; await pipeline(Readable.from(["a", "b"]), new Transform({ transform(chunk, _e, next) { next(null, String(chunk).toUpperCase()); } }), async (source) => { for await (const chunk of source) chunks.push(String(chunk)); }); expect(chunks.join("")).toBe("AB"); });
  test("that break", async () => { const bad = new Readable({ read() { this.destroy(new Error("broken")); } }); await expect(bad.toArray()).rejects.toThrow("broken"); });
});
describe("signals", () => {
  test("time out", async () => { const signal = AbortSignal.timeout(10); await expect(new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))).rejects.toThrow(/timed out/i); expect(signal.aborted).toBe(true); });
  test("that are caught", async () => { expect.assertions(1); try { AbortSignal.abort(new Error("stop")).throwIfAborted(); } catch (error) { expect((error as Error).message).toBe("stop"); } });
});
