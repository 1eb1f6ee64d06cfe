// tests_failed|report_forged|nothing_asserted
import { expect, test } from "bun:test";
test("is wrong", () => { expect(1).toBe(1); AbortSignal.timeout(60).addEventListener("abort", () => expect(1).toBe(2)); });
