// Starts children in several ways, reads streams, and uses events.
import { expect, test } from "bun:test";
import { EventEmitter, once } from "node:events";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
test("streams", async () => { const seen: string[] = []; for await (const part of Readable.from(["a", "b"])) seen.push(part); expect(seen).toEqual(["a", "b"]); expect(await new Response(new ReadableStream({ start(c) { c.enqueue("x"); c.close(); } })).text()).toBe("x"); await pipeline(Readable.from(["1"]), async function* (source) { yield* source; }, async (source) => { for await (const part of source) expect(String(part)).toBe("1"); }); });
test("events", async () => { const emitter = new EventEmitter(); setTimeout(() => emitter.emit("ready", 5), 1); const [value] = await once(emitter, "ready"); expect(value).toBe(5); });
test("aborts", async () => { const controller = new AbortController(); const waiting = new Promise((_, reject) => controller.signal.addEventListener("abort", () => reject(controller.signal.reason))); controller.abort(new Error("stopped")); await expect(waiting).rejects.toThrow("stopped"); });
test("handles a rejection later", async () => { const failing = Promise.reject(new Error("later")); failing.catch(() => {}); await Bun.sleep(1); await expect(failing).rejects.toThrow("later"); });
test("settles all", async () => { const settled = await Promise.allSettled([Promise.resolve(1), Promise.reject(new Error("x"))]); expect(settled.map((one) => one.status)).toEqual(["fulfilled", "rejected"]); });
