import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, mock, spyOn, test } from "bun:test";
test("throws", () => { expect(() => { throw new TypeError("no"); }).toThrow(TypeError); });
test("rejects", async () => { await expect(Promise.reject(new Error("no"))).rejects.toThrow("no"); });
test("done", (done) => { setTimeout(() => { expect(1).toBe(1); done(); }, 1); });
