// tests_failed|report_missing|report_forged
import { afterAll, expect, test } from "bun:test";
const exit = process.reallyExit;
process.on("exit", () => exit.call(process, 0));
afterAll(() => { setTimeout(() => exit.call(process, 0), 1); });
test("is wrong", () => { expect(1).toBe(2); });
