// tests_failed|report_forged
import { expect, test } from "bun:test";
test("is wrong", async () => { expect(1).toBe(1); await new Promise(() => {}); }, 20);
