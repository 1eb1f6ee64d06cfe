// all_skipped
import { afterAll, afterEach, beforeAll, describe, expect, mock, test } from "bun:test";
test.skipIf(process.pid > 0)("never", () => { expect(1).toBe(2); });
