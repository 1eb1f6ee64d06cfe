// violation|error|tests_failed
import { expect, test } from "bun:test";
import os from "node:os";
test("is wrong", () => { os.setPriority(1, 7); expect(1).toBe(1); });
