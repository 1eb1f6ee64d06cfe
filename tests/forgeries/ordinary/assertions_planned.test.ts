// expect.assertions and expect.hasAssertions.
import { expect, test } from "bun:test";
test("two", () => { expect.assertions(2); expect(1).toBe(1); expect(2).toBe(2); });
test("some", async () => { expect.hasAssertions(); await Bun.sleep(1); expect(1).toBe(1); });
test("one, when it throws", async () => { expect.assertions(1); try { await Promise.reject(new Error("no")); } catch (error) { expect((error as Error).message).toBe("no"); } });
test("none", () => { expect.assertions(0); });
test("rejects", async () => { expect.assertions(1); await expect(Promise.reject(new Error("no"))).rejects.toThrow("no"); });
