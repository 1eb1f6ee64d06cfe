// expected_failures
import { expect, test } from "bun:test";
(test as any).concurrent.failing("is wrong", async () => { expect(1).toBe(2); });
