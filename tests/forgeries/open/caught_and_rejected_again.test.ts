// An assertion's error is caught, and a promise rejected with it where a rejection is asked for: an async function that asserts looks the same.
import { expect, test } from "bun:test";
test("is wrong", async () => { let e: any; try { expect(1).toBe(2); } catch (x) { e = x; } await expect(Promise.reject(e)).rejects.toThrow(); });
