import { test, expect } from "bun:test";
const waitFor = async <T>(f: () => T): Promise<T> => { let last: unknown; for (let i = 0; i < 50; i++) { try { return await f(); } catch (e) { last = e; await Bun.sleep(2); } } throw last; };
test("honest", async () => { let v = 0; setTimeout(() => { v = 1; }, 10); await expect(waitFor(() => expect(v).toBe(1))).resolves.toBeUndefined(); });
