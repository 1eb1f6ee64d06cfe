import { test, expect } from "bun:test";
const waitFor = async (f: () => void | Promise<void>) => { let last: unknown; for (let i = 0; i < 50; i++) { try { await f(); return; } catch (e) { last = e; await Bun.sleep(2); } } throw last; };
test("several", async () => { const s: string[] = []; setTimeout(() => s.push("a"), 6); setTimeout(() => s.push("b"), 12); await waitFor(() => { expect(s[0]).toBe("a"); expect(s[1]).toBe("b"); expect(s).toHaveLength(2); }); await waitFor(async () => { await expect(Promise.resolve(s.length)).resolves.toBe(2); }); });
test("never", async () => { await expect(waitFor(() => expect(1).toBe(2))).rejects.toThrow(); });
