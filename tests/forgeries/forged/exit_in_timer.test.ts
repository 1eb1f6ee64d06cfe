// report_missing
import { afterAll, afterEach, beforeAll, describe, expect, mock, test } from "bun:test";
setTimeout(() => process.exit(0), 5);
test("waits", async () => { await Bun.sleep(50); expect(1).toBe(2); });
