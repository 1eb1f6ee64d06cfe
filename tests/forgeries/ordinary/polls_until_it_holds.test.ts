import { expect, test } from "bun:test";
async function eventually(check: () => void | Promise<void>, ms = 1000) { const end = Date.now() + ms; for (;;) { try { await check(); return; } catch (error) { if (Date.now() > end) throw error; await new Promise((r) => setTimeout(r, 5)); } } }
test("eventually", async () => { let n = 0; const id = setInterval(() => n++, 3); await eventually(() => expect(n).toBeGreaterThan(3)); clearInterval(id); });
test("eventually two", async () => { const s = { state: "starting" }; setTimeout(() => { s.state = "up"; }, 20); await eventually(() => { expect(s.state).toBe("up"); expect(s).toEqual({ state: "up" }); }); });
test("eventually async", async () => { let n = 0; await eventually(async () => { const v = await Promise.resolve(++n); expect(v).toBe(4); }); });
test("until", async () => { let tries = 0; while (true) { tries++; if (tries > 3) break; await Bun.sleep(1); } expect(tries).toBe(4); });
