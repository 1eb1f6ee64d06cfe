// assertion_swallowed|tests_failed
import { expect, test } from "bun:test";
test("is wrong", async () => { expect(1).toBe(1); await Promise.allSettled([expect(Bun.sleep(1).then(() => 1)).resolves.toBe(2), (async () => expect(1).toBe(3))()]); });
